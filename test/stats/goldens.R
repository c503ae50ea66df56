# Makes goldens.json, what R says to the questions that test/stats/goldens.test.ts asks of src/stats:
#   Rscript test/stats/goldens.R > test/stats/goldens.json
# R 4.2 with the package survival (Debian: r-base-core, r-cran-survival). Nothing here is drawn at random.
library(survival)

num <- function(x) paste0("[", paste(ifelse(is.na(x), "null", sprintf("%.15g", x)), collapse = ", "), "]")
one <- function(x) sprintf("%.15g", x)
entry <- function(...) { parts <- list(...); paste0("{ ", paste0('"', names(parts), '": ', unlist(parts), collapse = ", "), " }") }
all <- function(entries) paste0("[\n    ", paste(entries, collapse = ",\n    "), "\n  ]")

adjust <- lapply(list(c(.01, .04, .03, .005), c(.2), c(.05, .05, .05), c(.9, .0001, .5, .02, .02), c(1, 0, .5)), function(p)
  entry(p = num(p), holm = num(p.adjust(p, "holm")), bh = num(p.adjust(p, "BH"))))

mcnemar <- lapply(list(c(3, 9), c(0, 5), c(0, 6), c(0, 9), c(7, 7), c(40, 25), c(1, 0)), function(d)
  entry(discordant = num(d), p = one(binom.test(d[1], sum(d), .5)$p.value)))

fisher <- lapply(list(c(9, 226, 0, 113), c(0, 113, 9, 226), c(3, 10, 8, 12), c(1, 1000, 12, 1000), c(5, 5, 0, 5), c(0, 7, 0, 9)), function(d) {
  table <- matrix(c(d[1], d[2] - d[1], d[3], d[4] - d[3]), 2)
  sides <- sapply(c("two.sided", "less", "greater"), function(side) fisher.test(table, alternative = side)$p.value)
  entry(counts = num(d), either = one(sides[1]), lower = one(sides[2]), higher = one(sides[3]))
})

wilson <- lapply(list(c(9, 226), c(0, 113), c(5, 5), c(17, 40), c(1, 3)), function(d) {
  ends <- suppressWarnings(prop.test(d[1], d[2], correct = FALSE)$conf.int)
  entry(counts = num(d), low = one(ends[1]), high = one(ends[2]))
})

samples <- list(a = c(2.1, 3.4, 1.9, 8.8, 4.0), b = c(0.3, 1.1, 0.9, 1.4, 0.2, 0.7, 2.2), c = c(-1, -1, 0, 3, 12, 40), d = c(5, 6))
t_one <- lapply(samples, function(x) { t <- t.test(x); entry(x = num(x), low = one(t$conf.int[1]), high = one(t$conf.int[2]), p = one(t$p.value), p_at_1 = one(t.test(x, mu = 1)$p.value)) })
welch <- lapply(list(c("a", "b"), c("b", "c"), c("c", "a"), c("d", "a")), function(pair) {
  t <- t.test(samples[[pair[1]]], samples[[pair[2]]])
  entry(treatment = num(samples[[pair[1]]]), control = num(samples[[pair[2]]]), low = one(t$conf.int[1]), high = one(t$conf.int[2]), freedom = one(t$parameter))
})

quantiles <- lapply(samples, function(x) entry(x = num(x), p = num(c(0, .05, .5, .9, 1)), values = num(quantile(x, c(0, .05, .5, .9, 1), type = 7))))

lives <- list(
  list(c(6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35), c(1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0)),
  list(c(1, 2, 3, 4, 5), c(1, 1, 1, 1, 1)),
  list(c(5400, 1200, 900, 5400, 1200, 300.5), c(0, 1, 1, 0, 1, 1)),
  list(c(2, 2, 8, 8), c(1, 0, 1, 0)))
survival <- lapply(lives, function(life) {
  fit <- survfit(Surv(life[[1]], life[[2]]) ~ 1, conf.type = "log-log")
  horizon <- max(life[[1]])
  mean <- summary(fit, rmean = horizon)$table
  done <- fit$n.event > 0
  entry(times = num(life[[1]]), done = num(life[[2]]), x = num(fit$time[done]), share = num(fit$surv[done]), low = num(fit$lower[done]),
    high = num(fit$upper[done]), at_risk = num(fit$n.risk[done]), horizon = one(horizon), mean = one(mean["rmean"]), error = one(mean["se(rmean)"]))
})

# Power of McNemar's exact test, by adding up every outcome of n pairs.
power <- lapply(list(c(20, .3, .02, .05), c(50, .1, .0, .05), c(113, .08, .01, .05), c(30, .25, .25, .05)), function(d) {
  total <- 0
  for (t in 0:d[1]) for (c in 0:(d[1] - t)) {
    rejects <- t > c && binom.test(t, t + c, .5)$p.value <= d[4]
    if (rejects) total <- total + dmultinom(c(t, c, d[1] - t - c), prob = c(d[2], d[3], 1 - d[2] - d[3]))
  }
  entry(n = one(d[1]), treatment = one(d[2]), control = one(d[3]), alpha = one(d[4]), power = one(total))
})
t_power <- lapply(list(c(10, 1), c(30, .5), c(113, .25)), function(d)
  entry(n = one(d[1]), effect = one(d[2]), power = one(power.t.test(n = d[1], delta = d[2], sd = 1, type = "one.sample")$power)))

cat(paste0('{\n  "multiple": ', all(adjust), ',\n  "mcnemar": ', all(mcnemar), ',\n  "fisher": ', all(fisher), ',\n  "wilson": ', all(wilson),
  ',\n  "student": ', all(t_one), ',\n  "welch": ', all(welch), ',\n  "quantiles": ', all(quantiles), ',\n  "survival": ', all(survival),
  ',\n  "mcnemarPower": ', all(power), ',\n  "studentPower": ', all(t_power), "\n}\n"))
