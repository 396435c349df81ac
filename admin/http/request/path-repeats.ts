import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { invalid } from '../errors.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Removes members of a query or body that repeat a value of the path, as generated clients send them: `PUT /api-keys/:id` with
 * `{"id": …}`. Each path parameter may be spelled in snake case or camel case. Members in `declared` are kept, because the schema
 * of the route reads them. Throws AB01 when a member differs from the path.
 */
export function withoutPathRepeats<Sent>(
  sent: Sent,
  path: Readonly<Record<string, string>>,
  declared: ReadonlySet<string>,
): Sent {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent;
  const rest = { ...sent } as Record<string, unknown>;
  for (const [parameter, value] of Object.entries(path)) {
    for (const name of spellings(parameter)) {
      if (!Object.hasOwn(rest, name) || declared.has(name)) continue;
      if (!isSame(rest[name], value)) throw invalid(`${name}: must equal the value in the path. Remove it from body and query`);
      delete rest[name];
    }
  }
  return rest as Sent;
}

/** Renames camel-case members of a query to the snake-case name that the route declares. Throws AB01 if both are given. */
export function inSnakeCase(query: Readonly<Record<string, string>>, declared: ReadonlySet<string>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [sentName, value] of Object.entries(query)) {
    const snake = toSnakeCase(sentName);
    const name = !declared.has(sentName) && declared.has(snake) ? snake : sentName;
    if (Object.hasOwn(out, name)) throw invalid(`${name}: given twice`);
    out[name] = value;
  }
  return out;
}

/** Names of the members that a schema reads: those of an object schema, of all options of a union, of the first schema of a pipe. */
export function declaredNames(schema: unknown): ReadonlySet<string> {
  const { entries, options, pipe } = schema as {
    readonly entries?: Members;
    readonly options?: readonly unknown[];
    readonly pipe?: readonly unknown[];
  };
  if (entries) return new Set(Object.keys(entries));
  const parts = options ?? pipe?.filter((part) => (part as { readonly kind?: string }).kind === 'schema') ?? [];
  return new Set(parts.flatMap((part) => [...declaredNames(part)]));
}

function spellings(parameter: string): ReadonlySet<string> {
  return new Set([parameter, toSnakeCase(parameter), toCamelCase(parameter)]);
}

function isSame(sent: unknown, value: string): boolean {
  if (typeof sent !== 'string') return false;
  return sent === value || (isUuid(value) && sent.toLowerCase() === value.toLowerCase());
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');
}

function toCamelCase(name: string): string {
  return name.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
