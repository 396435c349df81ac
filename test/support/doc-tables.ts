import { adminErrorTable } from '../../admin/http/errors.ts';
import { errorTable } from '../../core/contract/values/errors.ts';

/** The errors as ARCHITECTURE shows them. */
export function errorsMarkdown(): string {
  const rows = Object.entries(errorTable).map(
    ([code, row]) =>
      `| \`${code}\` | \`${row.authCode ?? code}\` | ${row.status} | ${row.source} | ${row.retryable ? 'yes' : 'no'} | \`${row.type}\` | ${row.public} |`,
  );
  return [
    '| `error.name` | `error.code` | Status | Whose fault | Try again | `error.type` | What the caller reads |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** The codes of the control plane as ARCHITECTURE shows them. */
export function adminErrorsMarkdown(): string {
  const rows = Object.entries(adminErrorTable).map(([code, row]) => `| \`${code}\` | ${row.status} | ${row.meaning} |`);
  return ['| `data.errorCode` | Status | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The first Markdown table below the heading with this text; empty when there is none. */
export function tableBelow(document: string, heading: string): string {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
  const section = lines.slice(start + 1, start === -1 ? 0 : undefined);
  const first = section.findIndex((line) => line.startsWith('|') || /^#+ /.test(line));
  if (first === -1) return '';
  const rest = section.slice(first);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end === -1 ? undefined : end).join('\n');
}
