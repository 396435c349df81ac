import { invalid, notFound } from '../errors.ts';

/** Fields that clients may repeat (`status=active&status=expired`); the values are joined with commas. */
const lists: ReadonlySet<string> = new Set(['status']);

/** Returns the query by name. Throws AB01 for other names that occur twice and for control characters. */
export function readQuery(url: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of new URL(url).searchParams) {
    const isRepeated = Object.hasOwn(out, name);
    if ((isRepeated && !lists.has(name)) || name === '__proto__')
      throw invalid(`${name}: given twice, or not allowed in a query`);
    if (/\p{Cc}/u.test(value)) throw invalid(`${name}: control characters are not allowed`);
    out[name] = isRepeated ? `${out[name]},${value}` : value;
  }
  return out;
}

/**
 * Returns the decoded path parameters. Throws AB08 for control characters: no name contains them and the database rejects them.
 */
export function readParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (Object.values(params).some((value) => /\p{Cc}/u.test(value))) throw notFound('What the path names');
  return params;
}

/** Returns the path as sent, for the audit trail. It is still encoded, so it is plain ASCII. */
export function readPath(url: string): string {
  return new URL(url).pathname.slice(0, 2_048);
}

/** Returns the query for the audit log, shortened and without characters that the database cannot store. */
export function readQueryLeniently(url: string): Record<string, string> {
  const pairs = [...new URL(url).searchParams].slice(0, 50);
  return Object.fromEntries(pairs.map(([name, value]) => [clean(name, 255), clean(value, 1_024)]));
}

/** Headers for the audit trail. They describe the request and never hold a credential. */
const auditedHeaders = ['user-agent', 'content-type', 'accept', 'if-match', 'idempotency-key', 'origin', 'referer'];

/** Returns the headers of this list that were sent. */
export function readAuditHeaders(header: (name: string) => string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of auditedHeaders) {
    const value = header(name);
    if (value !== undefined) headers[name] = clean(value, 512);
  }
  return headers;
}

function clean(text: string, max: number): string {
  return text.replace(/\p{Cc}/gu, '\u{fffd}').slice(0, max);
}
