/**
 * Limits and records while gateway processes are killed with SIGKILL at random: see README.md. Ends with 1 if a limit was exceeded, if
 * less than 97 % of it was admitted, if a call that reached the provider has no record or several, or if budgets or roll-ups differ from the records.
 *
 *     node bench/kill.ts [--kills 50] [--limit 2500] [--processes 3] [--clients 8] [--every-ms 1200] [--control-plane]
 *         [--on-unavailable deny]
 */
import { parseArgs } from 'node:util';
import { admittedShareMin, limitKinds, runKills } from './kill/run-kills.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    limit: { type: 'string', default: '2500' },
    processes: { type: 'string', default: '3' },
    clients: { type: 'string', default: '8' },
    'every-ms': { type: 'string', default: '1200' },
    'control-plane': { type: 'boolean', default: false },
    'on-unavailable': { type: 'string', default: 'deny' },
  },
});
const limit = Number(values.limit);
const result = await runKills({
  kills: Number(values.kills),
  limit,
  processes: Number(values.processes),
  clients: Number(values.clients),
  everyMs: Number(values['every-ms']),
  killsControlPlane: values['control-plane'],
  onUnavailable: values['on-unavailable'],
});
const failures = [...result.failures];
console.log(`${result.kills} kills in ${result.seconds.toFixed(0)} s; each limit admits ${limit} calls\n`);
console.log('| limit | calls at the provider | of the limit | replied | records | interrupted | no record | two | not sent |');
console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: |');
for (const { kind, calls, replied, records, missing, double, unsent } of result.kinds) {
  const isLimited = kind !== limitKinds.at(-1);
  const share = isLimited ? `${((100 * calls) / limit).toFixed(1)} %` : '–';
  const stored = Object.values(records).reduce((sum, count) => sum + count, 0);
  const cells = [kind, calls, share, replied, stored, records.interrupted ?? 0, missing, double, unsent];
  console.log(`| ${cells.join(' | ')} |`);
  if (isLimited && calls > limit) failures.push(`${kind}: ${calls} calls reached the provider`);
  if (isLimited && calls < admittedShareMin * limit) failures.push(`${kind}: only ${calls} calls were admitted`);
  if (missing > 0) failures.push(`${kind}: ${missing} calls that reached the provider have no record`);
  if (double > 0) failures.push(`${kind}: ${double} calls have several records`);
}
const { records, entries, windows, differences } = result.ledger;
console.log(`\nledger: ${records} records, ${entries} entries, ${windows} windows of budgets, ${differences.length} differences`);
for (const { where, expected, found } of differences) failures.push(`${where}: ${found}; records sum up to ${expected}`);
for (const failure of failures) console.log(`FAULT ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
