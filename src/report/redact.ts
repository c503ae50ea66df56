/**
 * A file without what was typed: a table of commands calls them `command 1`, `command 2`, …, the same one the same everywhere, and a
 * journal withholds them.
 *
 * It is done once, beneath every query: views of the tables' own names stand before the tables, so that no query, of ours or of
 * somebody's own definition, can forget it.
 */
import type { Reading } from "../telemetry/store.ts";
import { identifier } from "../telemetry/table.ts";

const WITHHELD = "(withheld)";

/** From here on whoever asks these tables is told no command line, nor on which machine it was. */
export async function redact(tables: Reading): Promise<void> {
  const [{ name } = { name: "" }] = await tables.rows<{ name: string }>("SELECT current_database() AS name");
  const own = (table: string) => `${identifier(name)}.main.${table}`;
  await tables.rows(
    `CREATE TEMP TABLE redacted_commands AS SELECT command, 'command ' || row_number() OVER (ORDER BY min((trial_id, call_index))) AS called
     FROM ${own("shell_invocations")} GROUP BY command`,
  );
  const views = {
    shell_invocations: `SELECT s.* REPLACE (r.called AS command) FROM ${own("shell_invocations")} AS s JOIN redacted_commands AS r USING (command)`,
    // Of an exec the line names the command, of a refusal perhaps the reason does.
    events: `SELECT * REPLACE (CASE WHEN event IN ('exec_called', 'call_refused') AND journal IS NOT NULL
        THEN regexp_extract(journal, '^[a-z]+ *(process-[0-9]+)?') || '  ${WITHHELD}' ELSE journal END AS journal) FROM ${own("events")}`,
    experiments: `SELECT * REPLACE ('${WITHHELD}' AS command, '{}' AS host, 'null' AS git) FROM ${own("experiments")}`,
  };
  for (const [view, as] of Object.entries(views)) await tables.rows(`CREATE TEMP VIEW ${view} AS ${as}`);
}
