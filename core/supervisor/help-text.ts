import { settingGroups } from '../../config/settings-table.ts';

/** Returns the text of `--help`: usage, then every setting with its meaning, accepted values and default. */
export function helpText(version: string): string {
  const names = Object.values(settingGroups).flatMap((rows) => Object.values(rows).map((row) => row.name));
  const width = Math.max(...names.map((name) => name.length)) + 2;
  const groups = Object.entries(settingGroups).flatMap(([title, rows]) => [
    `${title}:`,
    ...Object.values(rows).flatMap((row) => [
      `  ${row.name.padEnd(width)}${plain(row.meaning)}`,
      `  ${''.padEnd(width)}${plain(row.type.expected)}; default: ${plain(row.defaultShown ?? row.default ?? 'unset')}`,
    ]),
    '',
  ]);
  return [
    `svc-gateway ${version}: an AI gateway and its control plane`,
    '',
    'usage: npm start [-- --help | --version]      svc-gateway [--help | --version]',
    '',
    'All settings come from the environment. NAME_FILE names a file with the value, for settings that may hold a credential.',
    '',
    ...groups,
  ].join('\n');
}

function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}
