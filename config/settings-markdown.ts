import { secretNames } from './secret-files.ts';
import { type Setting, settingGroups } from './settings-table.ts';

/** Returns the text of docs/settings.md. */
export function settingsDocument(): string {
  const groups = Object.entries(settingGroups).map(([title, rows]) =>
    [
      `## ${title}`,
      '',
      '| Name | Default | Accepted | Meaning |',
      '| --- | --- | --- | --- |',
      ...Object.values(rows).map((row) => `| \`${row.name}\` | ${defaultOf(row)} | ${row.type.expected} | ${row.meaning} |`),
      '',
    ].join('\n'),
  );
  return `${head}\n${groups.join('\n')}`;
}

const head = `# Settings

\`npm run docs:settings\` writes this page from [config/settings-table](../config/settings-table.ts).

Every setting is an environment variable. An empty value counts as unset. The service checks all settings before it starts anything, names each
wrong one with the accepted values, and warns about names that are close to a setting. \`npm start -- --help\` prints this list.

Settings that may hold a credential can be given as files, for example of a secret store: \`DATABASE_URL_FILE=/run/secrets/database-url\`. These are
${secretNames.map((name) => `\`${name}\``).join(', ')}.
A password that changes in \`DATABASE_URL_FILE\` or \`NATS_URL_FILE\` needs no restart.
`;

function defaultOf(row: Setting<unknown>): string {
  return row.defaultShown ?? (row.default === null ? 'unset' : `\`${row.default}\``);
}
