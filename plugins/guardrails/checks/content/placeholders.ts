import type { RequestContext } from '../../../../core/contract/plugin/context.ts';
import type { Finding } from '../../../../core/contract/plugin/worker-tasks.ts';

/** Placeholders of one request: `{{EMAIL_ADDRESS_1}}` and the text that it stands for. The same text has the same placeholder. */
export class Placeholders {
  readonly #byValue = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** Returns the placeholder of a finding. None that is in `texts` already is used for something new. */
  of({ kind, value }: Finding<string>, texts: readonly string[]): string {
    const key = `${kind} ${value}`;
    const known = this.#byValue.get(key);
    if (known !== undefined) return known;
    let placeholder: string;
    do {
      const count = (this.#counts.get(kind) ?? 0) + 1;
      this.#counts.set(kind, count);
      placeholder = `{{${kind}_${count}}}`;
    } while (texts.some((text) => text.includes(placeholder)));
    this.#byValue.set(key, placeholder);
    this.#values.set(placeholder, value);
    return placeholder;
  }

  /** Returns a text with the original texts in place of placeholders. */
  restore(text: string): string {
    return text.replace(placeholderPattern, (placeholder) => this.#values.get(placeholder) ?? placeholder);
  }
}

const placeholderPattern = /\{\{[A-Z][A-Z_]{1,40}_\d{1,6}\}\}/g;

/** Originals of requests that ask for restoring. They are forgotten with the request. */
const remembered = new WeakMap<RequestContext, Placeholders>();

/** Returns the placeholders of a request, to be added to. */
export function rememberedOf(ctx: RequestContext): Placeholders {
  const known = remembered.get(ctx);
  if (known) return known;
  const placeholders = new Placeholders();
  remembered.set(ctx, placeholders);
  return placeholders;
}

/** Returns the texts with a replacement for each finding. A finding split over texts is replaced where it begins. */
export function replaceFindings(
  texts: readonly string[],
  findings: readonly Finding<string>[],
  replacement: (finding: Finding<string>) => string,
): string[] {
  const cuts: { start: number; end: number; by: string }[][] = texts.map(() => []);
  for (const finding of findings) {
    for (const [index, { text, start, end }] of finding.spans.entries()) {
      cuts[text]?.push({ start, end, by: index === 0 ? replacement(finding) : '' });
    }
  }
  return texts.map((text, index) => {
    const sorted = (cuts[index] ?? []).sort((left, right) => left.start - right.start);
    let written = '';
    let at = 0;
    for (const { start, end, by } of sorted) {
      written += text.slice(at, start) + by;
      at = end;
    }
    return written + text.slice(at);
  });
}
