import type { JsonSchema } from '../../../admin/openapi/to-json-schema.ts';

const oddTexts = [
  '',
  ' ',
  'a',
  'Ünïcode ✓',
  '\u0000',
  '../..',
  "' or 1=1 --",
  'x'.repeat(3_000),
  '0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
];
const oddValues = [null, true, -1, 1e308, [], {}, [[{}]], { __proto__x: 1 }, ...oddTexts];

/** Generates values for a schema: valid ones, and invalid ones with the probability `oddness` (0 to 1). */
export function createFuzz(random: () => number) {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

  function valueFor(schema: JsonSchema, oddness: number): unknown {
    if (random() < oddness) return pick(oddValues);
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum)) return pick(schema.enum);
    const alternatives = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
    if (alternatives) return valueFor(pick(alternatives), oddness);
    switch (schema.type) {
      case 'object':
        return objectOf(schema, oddness);
      case 'array':
        return Array.from({ length: Math.floor(random() * 3) }, () => valueFor((schema.items ?? {}) as JsonSchema, oddness));
      case 'boolean':
        return random() < 0.5;
      case 'integer':
      case 'number':
        return Number(schema.minimum ?? 0) + Math.floor(random() * 5);
      case 'null':
        return null;
      case 'string':
        return textOf(schema);
      default:
        return pick(oddValues);
    }
  }

  function objectOf({ properties = {}, required = [] }: JsonSchema, oddness: number): object {
    const needed = new Set(required as readonly string[]);
    const chosen = Object.entries(properties as Record<string, JsonSchema>).filter(
      ([name]) => (needed.has(name) && random() >= oddness) || random() < 0.25,
    );
    const extra = random() < oddness ? [['surprise', 1] as const] : [];
    return Object.fromEntries([...chosen.map(([name, schema]) => [name, valueFor(schema, oddness)] as const), ...extra]);
  }

  function textOf({ format, maxLength = 40 }: JsonSchema): string {
    if (format === 'uuid') return '0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b';
    if (format === 'email') return `p${Math.floor(random() * 1e6)}@example.com`;
    if (format === 'date-time') return '2035-01-31T12:00:00Z';
    return `t${Math.floor(random() * 1e9)}`.slice(0, Number(maxLength));
  }

  return { pick, valueFor, oddTexts };
}
