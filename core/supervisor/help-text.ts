import { settingsTable } from '../../config/settings-table.ts';

/** What `--help` prints: how to start it and every setting with default and meaning. */
export function helpText(version: string): string {
  const rows = Object.values(settingsTable).map((row) => ({
    name: row.name,
    shown: (row.defaultShown ?? row.default ?? 'unset').replaceAll('`', ''),
    meaning: row.meaning,
    expected: row.type.expected.replaceAll('`', ''),
  }));
  const nameWidth = Math.max(...rows.map((row) => row.name.length)) + 2;
  return [
    `svc-gateway ${version}: an AI gateway and its control plane`,
    '',
    'usage: npm start [-- --help | --version]      svc-gateway [--help | --version]',
    '',
    'All settings come from the environment:',
    '',
    ...rows.flatMap((row) => [
      `  ${row.name.padEnd(nameWidth)}${row.meaning}`,
      `  ${''.padEnd(nameWidth)}${row.expected}; default: ${row.shown}`,
    ]),
    '',
  ].join('\n');
}
