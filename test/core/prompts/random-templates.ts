/** Random templates and variables for tests of the renderer. `random` returns numbers from 0 to 1. */

const names = ['a', 'b', 'c', 'a.b', 'b.c', 'list', 'list', 'show', '.'];
const partialNames = ['pp-1', 'pp-2', 'pp-3'];

export interface TemplateShape {
  /** Parts of the literal text. */
  readonly literals: readonly string[];
  readonly hasPartials: boolean;
}

export function randomTemplate(random: () => number, shape: TemplateShape, depth = 0): string {
  let text = '';
  for (let parts = Math.floor(random() * 6); parts >= 0; parts -= 1) {
    const kind = Math.floor(random() * 8);
    const name = pick(random, names);
    if (kind <= 2) text += pick(random, shape.literals);
    else if (kind === 3) text += `{{${name}}}`;
    else if (kind === 4) text += pick(random, [`{{{${name}}}}`, `{{& ${name} }}`, '{{! note }}']);
    else if (kind === 5 && shape.hasPartials) text += `{{> ${pick(random, partialNames)} }}`;
    else if (depth < 3) {
      const open = pick(random, ['#', '^']);
      text += `{{${open}${name}}}${randomTemplate(random, shape, depth + 1)}{{/${name}}}`;
    }
  }
  return text;
}

/** Partials that include each other without cycles. */
export function randomPartials(random: () => number, literals: readonly string[]): Record<string, string> {
  const partial = (hasPartials: boolean) => randomTemplate(random, { literals, hasPartials }, 2);
  return {
    'pp-1': `${partial(false)}{{>pp-2}}`,
    'pp-2': `${pick(random, literals)}{{>pp-3}}`,
    'pp-3': partial(false),
  };
}

/** Lists hold no null: the package throws for an item that is null. */
export function randomVariables(random: () => number, texts: readonly string[]): Record<string, unknown> {
  const value = (depth: number): unknown => {
    const kind = Math.floor(random() * (depth > 1 ? 5 : 8));
    if (kind <= 1) return pick(random, texts) + (random() < 0.3 ? pick(random, texts) : '');
    if (kind === 2) return pick(random, [0, 1, -2.5, 1e21]);
    if (kind === 3) return pick(random, [true, false]);
    if (kind === 4) return pick(random, [null, '']);
    if (kind <= 6) return { b: value(depth + 1), c: value(depth + 1) };
    return Array.from({ length: Math.floor(random() * 3) }, () => value(depth + 1) ?? 1);
  };
  const variables: Record<string, unknown> = { list: [value(1) ?? 1, value(1) ?? 1].slice(Math.floor(random() * 3)) };
  for (const name of ['a', 'b', 'c', 'show']) if (random() < 0.8) variables[name] = value(0);
  return variables;
}

export function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}
