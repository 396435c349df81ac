import * as v from 'valibot';

/** Returns the names of the unused parts of a value. Empty if all of it is used. */
type UnusedParts = (value: unknown) => readonly string[];

type Marked = { readonly unusedParts?: UnusedParts };

/**
 * Marks a field that is stored and returned but has no effect in this version. Replies to requests that set it list it in the header
 * `x-svc-unused-settings`. With `parts`, only these values of the field have no effect.
 */
export function withoutEffect<const Schema extends v.GenericSchema>(schema: Schema, parts?: UnusedParts) {
  return v.pipe(schema, v.metadata<v.InferOutput<Schema>, Marked>({ unusedParts: parts ?? wholeField }));
}

const wholeField: UnusedParts = () => [''];

/** Returns the paths in `sent` that `withoutEffect` marks: `settings.debug_log`, `scopes[prompts.*]`. Empty values set nothing. */
export function unusedSettings(schema: unknown, sent: unknown, path = ''): string[] {
  if (isEmpty(sent)) return [];
  const { wrapped, entries, pipe, item } = schema as SchemaParts;
  if (wrapped) return unusedSettings(wrapped, sent, path);
  const parts = pipe?.find((one) => one.type === 'metadata' && (one.metadata as Marked).unusedParts);
  if (parts)
    return (parts.metadata as Required<Marked>).unusedParts(sent).map((part) => (part === '' ? path : `${path}[${part}]`));
  if (entries && typeof sent === 'object') {
    return Object.entries(sent as object).flatMap(([name, value]) =>
      Object.hasOwn(entries, name) ? unusedSettings(entries[name], value, path === '' ? name : `${path}.${name}`) : [],
    );
  }
  if (item && Array.isArray(sent)) return sent.flatMap((one, index) => unusedSettings(item, one, `${path}[${index}]`));
  return [];
}

interface SchemaParts {
  readonly wrapped?: unknown;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly item?: unknown;
  readonly pipe?: readonly { readonly type: string; readonly metadata?: unknown }[];
}

/** Maximum length of the header value in characters. */
const headerMax = 2_000;

/** Returns the header value for these paths, each once, cut after the last path that fits. */
export function unusedHeader(paths: readonly string[]): string {
  const all = [...new Set(paths)].join(', ');
  return all.length <= headerMax ? all : `${all.slice(0, all.lastIndexOf(', ', headerMax - 5))}, ...`;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
