# Makes goldens.json, what R says to the questions that test/stats/goldens.test.ts asks of src/stats:
#   Rscript test/stats/goldens.R | npx biome format --stdin-file-path=goldens.json > /tmp/goldens.json && mv /tmp/goldens.json test/stats/
# R 4.2 with three packages (Debian: r-base-core, r-cran-survival, r-cran-survey, r-cran-sandwich). Nothing here is drawn at random:
# where a method resamples, all resamples there are are gone through. What no package has is written down here once more, another way.
suppressPackageStartupMessages({ library(survival); library(survey); library(sandwich) })

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


newcombe <- lapply(list(c(9, 226, 0, 113), c(56, 70, 48, 80), c(9, 10, 3, 10), c(0, 10, 0, 20), c(10, 10, 0, 20)), function(d) {
  one <- suppressWarnings(prop.test(d[1], d[2], correct = FALSE)); other <- suppressWarnings(prop.test(d[3], d[4], correct = FALSE))
  apart <- unname(one$estimate - other$estimate)
  reach <- function(a, b) sqrt((a - one$estimate)^2 + (b - other$estimate)^2)
  entry(counts = num(d), low = one(apart - reach(one$conf.int[1], other$conf.int[2])), high = one(apart + reach(one$conf.int[2], other$conf.int[1])))
})
newcombe_paired <- lapply(list(c(36, 12, 2, 0), c(100, 3, 9, 1), c(0, 5, 0, 20), c(20, 2, 2, 20), c(1, 10, 12, 2), c(54, 0, 0, 0)), function(d) {
  n <- sum(d); table <- matrix(d, 2)
  l <- (d[1] + d[2]) / n - suppressWarnings(prop.test(d[1] + d[2], n, correct = FALSE)$conf.int)
  u <- suppressWarnings(prop.test(d[1] + d[3], n, correct = FALSE)$conf.int) - (d[1] + d[3]) / n
  product <- det(table)
  corrected <- if (product > n / 2) product - n / 2 else if (product >= 0) 0 else product
  margins <- prod(rowSums(table), colSums(table))
  phi <- if (margins == 0) 0 else corrected / sqrt(margins)
  reach <- function(a, b) sqrt(drop(c(a, -b) %*% matrix(c(1, phi, phi, 1), 2) %*% c(a, -b)))
  entry(counts = num(d), low = one((d[2] - d[3]) / n - reach(l[1], u[2])), high = one((d[2] - d[3]) / n + reach(l[2], u[1])))
})

within <- lapply(list(list("a", 2), list("b", 1.5), list("c", 30), list("a", 8)), function(d) {
  x <- samples[[d[[1]]]]; margin <- d[[2]]
  above <- t.test(x, mu = margin, alternative = "less")$p.value; below <- t.test(x, mu = -margin, alternative = "greater")$p.value
  entry(x = num(x), margin = one(margin), higher = one(above), lower = one(below), both = one(max(above, below)))
})

student <- lapply(list(c(7, .975), c(1, .9), c(2.5, .99), c(29, .025), c(300, .6)), function(d)
  entry(freedom = one(d[1]), p = one(d[2]), value = one(qt(d[2], d[1]))))

# Ratios over clusters, as samples of clusters are weighed: survey's linearisation.
clusters <- list(
  list(c(12, -4, 30, 7, 0), c(3, 2, 5, 1, 4)), list(c(1.5, 2.5, -1, 8, 3, 3), c(1, 1, 1, 1, 1, 1)), list(c(130, 95, 240, 61), c(100, 90, 150, 70)),
  list(c(5, 9), c(2, 7)))
ratio <- lapply(clusters, function(d) {
  design <- svydesign(ids = ~id, weights = ~weight, data = data.frame(id = seq_along(d[[1]]), weight = 1, numerator = d[[1]], denominator = d[[2]]))
  fit <- svyratio(~numerator, ~denominator, design)
  ends <- confint(fit, df = length(d[[1]]) - 1)
  entry(numerator = num(d[[1]]), denominator = num(d[[2]]), value = one(coef(fit)), low = one(ends[1]), high = one(ends[2]))
})

crossed <- list(
  list(c(1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4), rep(1:3, 4), c(2, 4, 3, 7, 9, 8.5, -1, 0, 1, 4, 5, 8)),
  list(rep(1:5, each = 2), rep(1:2, 5), c(1, 3, 0, 2.5, 7, 9, 4, 4, -2, 1)),
  list(c(1, 1, 2, 2, 3, 3, 3), c(1, 2, 1, 2, 1, 2, 2), c(10, 14, 3, 8, 21, 26, 29)),
  list(rep(1:4, 4), rep(1:4, each = 4), c(1, 5, 8, 14, 4, 9, 10, 16, 0, 3, 8, 12, 9, 13, 18, 22)))
two_way <- lapply(crossed, function(d) {
  data <- data.frame(scenario = d[[1]], replicate = d[[2]], y = d[[3]])
  by <- function(cluster) vcovCL(lm(y ~ 1, data), cluster = cluster, type = "HC0", cadjust = TRUE)[1, 1]
  error <- sqrt(max(by(~ scenario + replicate), by(~scenario), by(~replicate)))
  freedom <- min(length(unique(d[[1]])), length(unique(d[[2]]))) - 1
  entry(scenario = num(d[[1]]), replicate = num(d[[2]]), y = num(d[[3]]), low = one(mean(d[[3]]) - qt(.975, freedom) * error), high = one(mean(d[[3]]) + qt(.975, freedom) * error))
})

# All n^n resamples of n clusters, instead of some.
resamples <- function(n) as.matrix(expand.grid(rep(list(1:n), n)))
bca <- lapply(list(list(c(12, -4, 30, 7, 0), c(3, 2, 5, 1, 4)), list(c(1, 2, 4, 20), c(1, 1, 1, 1)), list(c(3, -1, 4, 1, -5), c(1, 2, 1, 2, 1)), list(c(0, 0, 9, 1), c(2, 2, 2, 1))), function(d) {
  of <- function(rows) sum(d[[1]][rows]) / sum(d[[2]][rows])
  n <- length(d[[1]]); value <- of(1:n)
  drawn <- apply(resamples(n), 1, of)
  tie <- abs(drawn - value) < 1e-12
  z0 <- qnorm(mean(drawn < value & !tie) + mean(tie) / 2)
  left <- sapply(1:n, function(out) of((1:n)[-out]))
  bend <- sum((mean(left) - left)^3) / (6 * sum((mean(left) - left)^2)^1.5)
  z <- z0 + qnorm(c(.025, .975))
  ends <- quantile(drawn, pnorm(z0 + z / (1 - bend * z)), type = 7)
  entry(numerator = num(d[[1]]), denominator = num(d[[2]]), low = one(ends[1]), high = one(ends[2]))
})

both <- list(
  list(list(c(1, 5, 9), c(2, 2), c(8, 30, 4, 4), c(7)), list(c(0, 3), c(2, 5, 1), c(6), c(9, 9, 1))),
  list(list(c(10), c(20), c(31)), list(c(1), c(12), c(5))),
  list(list(c(1.5, 2.5), c(3.5), c(0.5, 9), c(4)), list(c(1, 2), c(4), c(1), c(8, 0.25))))
quantile_difference <- unlist(lapply(both, function(d) lapply(c(.5, .9), function(p) {
  n <- length(d[[1]])
  of <- function(rows) unname(quantile(unlist(d[[1]][rows]), p, type = 7) - quantile(unlist(d[[2]][rows]), p, type = 7))
  tail <- pnorm(qt(.025, n - 1) * sqrt(n / (n - 1)))
  ends <- quantile(apply(resamples(n), 1, of), c(tail, 1 - tail), type = 7)
  lists <- function(side) paste0("[", paste(sapply(side, num), collapse = ", "), "]")
  entry(treatment = lists(d[[1]]), control = lists(d[[2]]), p = one(p), value = one(of(1:n)), low = one(ends[1]), high = one(ends[2]))
})), recursive = FALSE)

sign_flip <- lapply(list(c(3, -1, 4, 1, -5), c(1, 1, 1, 1, 1, -1), c(.1, .2, .3, -.4, .5, 2.25, 7), c(-2, -3, 0, -1)), function(x) {
  totals <- as.matrix(expand.grid(rep(list(c(-1, 1)), length(x)))) %*% abs(x)
  entry(x = num(x), either = one(mean(abs(totals) >= abs(sum(x)) - 1e-9)), lower = one(mean(totals <= sum(x) + 1e-9)), higher = one(mean(totals >= sum(x) - 1e-9)))
})

steps <- lapply(list(list(c(3, 1, 4, 1, 5), 0), list(c(2, 2, 8), 3), list(c(.5, 7, 7, 7, 9, 1), 1)), function(d) {
  line <- ecdf(c(d[[1]], rep(Inf, d[[2]])))
  x <- sort(unique(d[[1]]))
  entry(values = num(d[[1]]), censored = one(d[[2]]), x = num(x), share = num(line(x)))
})

# Clusters of lifetimes: what each adds to the area under the curve, by survival's infinitesimal jackknife.
living <- list(
  list(c(1, 1, 2, 2, 3, 3, 4, 4), c(5, 9, 2, 12, 7, 7, 12, 3), c(1, 1, 1, 0, 1, 0, 0, 1), c(1, 2, 2, 3, 3, 4, 4, 4), c(1, 2, 12, 6, 4, 3, 12, 8), c(1, 1, 0, 1, 0, 1, 0, 1), 10),
  list(1:5, c(900, 5400, 1200, 30, 5400), c(1, 0, 1, 1, 0), 1:5, c(600, 4000, 1100, 45, 2400), c(1, 1, 1, 1, 1), 5400),
  list(c(1, 1, 2, 3), c(1, 2, 3, 4), c(1, 1, 1, 1), c(1, 2, 3, 3), c(2, 2, 6, 1), c(0, 1, 1, 1), 5))
restricted <- lapply(living, function(d) {
  side <- function(id, time, done) {
    seen <<- data.frame(time, done) # resid looks for it outside of this function
    fit <- survfit(Surv(time, done) ~ 1, data = seen)
    brought <- tapply(resid(fit, times = d[[7]], type = "auc"), factor(id, levels = seq_along(unique(c(d[[1]], d[[4]])))), sum)
    list(mean = unname(summary(fit, rmean = d[[7]])$table["rmean"]), brought = ifelse(is.na(brought), 0, brought))
  }
  one_side <- side(d[[1]], d[[2]], d[[3]]); other <- side(d[[4]], d[[5]], d[[6]])
  apart <- one_side$brought - other$brought; n <- length(apart)
  value <- one_side$mean - other$mean; reach <- qt(.975, n - 1) * sqrt(n / (n - 1) * sum(apart^2))
  entry(treatment = paste0("{ ", '"cluster": ', num(d[[1]]), ', "times": ', num(d[[2]]), ', "done": ', num(d[[3]]), " }"),
    control = paste0("{ ", '"cluster": ', num(d[[4]]), ', "times": ', num(d[[5]]), ', "done": ', num(d[[6]]), " }"),
    horizon = one(d[[7]]), value = one(value), low = one(value - reach), high = one(value + reach))
})

# Robbins: how far a sum of n standard normal steps may go before a normal mixture of likelihood ratios reaches 1 / alpha.
mixture <- lapply(list(c(1, 10, .05), c(20, 50, .05), c(100, 50, .01), c(400, 100, .1)), function(d) {
  n <- d[1]; rho2 <- (-2 * log(d[3]) + log(-2 * log(d[3])) + 1) / d[2]
  ratio <- function(sum) integrate(function(slope) exp(slope * sum - slope^2 * n / 2) * dnorm(slope, 0, sqrt(rho2)), -Inf, Inf, rel.tol = 1e-12, subdivisions = 1000L)$value
  far <- uniroot(function(sum) log(ratio(sum)) + log(d[3]), c(sqrt(n), 8 * sqrt(n) + 20), tol = 1e-10)$root
  entry(n = one(n), narrowest_at = one(d[2]), confidence = one(1 - d[3]), reach = one(far / n))
})

# Kim and Nelson's procedure, step by step as in their paper, for the largest mean.
stages <- function(k, n, gaps, spread) sapply(1:k, function(i) gaps[i] + spread * sin(1:n * (1 + i / 3)) + cos(1:n))
kn <- function(x, delta, alpha, n0) {
  k <- ncol(x); eta <- ((2 * alpha / (k - 1))^(-2 / (n0 - 1)) - 1) / 2; h2 <- 2 * eta * (n0 - 1)
  s2 <- outer(1:k, 1:k, Vectorize(function(i, l) var(x[1:n0, i] - x[1:n0, l])))
  last <- max(floor(h2 * s2 / delta^2)); alive <- 1:k; r <- n0
  if (n0 > last) return(list(which.max(colMeans(x[1:n0, ])), r))
  repeat {
    means <- colMeans(x[1:r, , drop = FALSE])
    keep <- sapply(alive, function(i) base::all(means[i] >= means[alive] - pmax(0, delta / (2 * r) * (h2 * s2[i, alive] / delta^2 - r))))
    alive <- alive[keep]
    if (length(alive) == 1) return(list(alive, r))
    r <- r + 1
    if (r == last + 1) return(list(alive[which.max(colMeans(x[1:r, alive, drop = FALSE]))], r))
  }
}
selection <- lapply(list(list(3, 2000, c(0, .4, 1), 1, .5, .05, 10), list(5, 2000, c(0, .1, .2, .1, 0), 1.5, .3, .05, 10), list(2, 2000, c(0, 0), 1, .3, .1, 5), list(4, 2000, c(3, 0, 0, 0), .2, 1, .05, 8)), function(d) {
  x <- stages(d[[1]], d[[2]], d[[3]], d[[4]]); found <- kn(x, d[[5]], d[[6]], d[[7]])
  entry(gaps = num(d[[3]]), spread = one(d[[4]]), indifference = one(d[[5]]), confidence = one(1 - d[[6]]), first = one(d[[7]]),
    best = one(found[[1]] - 1), stages = one(found[[2]]))
})

variance_ratio <- lapply(list(list(c(10, 14, 9, 20, 17), c(9, 12, 9, 15, 16)), list(c(1, 2, 3, 4), c(4, 3, 1, 2)), list(c(5.5, 1, 8, 2, 2, 9), c(1, 7, 3, 3, 4, 2))), function(d) {
  of <- function(rows) log((var(d[[1]][rows]) + var(d[[2]][rows])) / var(d[[1]][rows] - d[[2]][rows]))
  n <- length(d[[1]])
  pseudo <- n * of(1:n) - (n - 1) * sapply(1:n, function(out) of((1:n)[-out]))
  reach <- qt(.975, n - 1) * sd(pseudo) / sqrt(n)
  entry(treatment = num(d[[1]]), control = num(d[[2]]), value = one(exp(of(1:n))), low = one(exp(of(1:n) - reach)), high = one(exp(of(1:n) + reach)))
})

uniform <- lapply(list(c(.5), c(.1, .2, .9), c(.02, .5, .51, .52, .97, .3, .31), (1:40 - .5) / 40 * .8, ((1:120 - .3) / 120)^1.2, (1:150 / 150)^3), function(x) {
  test <- ks.test(x, "punif", exact = TRUE)
  entry(p_values = num(x), distance = one(test$statistic), p = one(test$p.value))
})
rejected <- lapply(list(c(62, 1000, .05), c(40, 1000, .05), c(0, 20, .05), c(9, 100, .01)), function(d)
  entry(counts = num(d[1:2]), alpha = one(d[3]), too_many = one(binom.test(d[1], d[2], d[3], alternative = "greater")$p.value)))

detectable <- lapply(list(c(113, .1), c(113, .2), c(113, .3), c(226, .1), c(226, .2), c(226, .3), c(50, .4)), function(d)
  entry(n = one(d[1]), discordance = one(d[2]), difference = one(uniroot(function(apart)
    pnorm((apart * sqrt(d[1]) - qnorm(.975) * sqrt(d[2])) / sqrt(d[2] - apart^2)) - .8, c(1e-6, d[2]), tol = 1e-13)$root)))

sections <- list(multiple = adjust, mcnemar = mcnemar, fisher = fisher, wilson = wilson, newcombe = newcombe, newcombePaired = newcombe_paired,
  student = t_one, studentQuantile = student, welch = welch, within = within, ratio = ratio, twoWay = two_way, bca = bca, signFlip = sign_flip,
  quantiles = quantiles, quantileDifference = quantile_difference, ecdf = steps, survival = survival, restrictedMeanDifference = restricted,
  mixture = mixture, selection = selection, varianceRatio = variance_ratio, uniformity = uniform, rejections = rejected,
  mcnemarPower = power, studentPower = t_power, detectable = detectable)
cat(paste0("{\n", paste0('  "', names(sections), '": ', sapply(sections, all), collapse = ",\n"), "\n}\n"))
