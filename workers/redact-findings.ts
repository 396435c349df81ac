import type { FindInput, Found } from '../core/contract/plugin/services/worker-tasks.ts';

/** Something found in texts. Findings do not overlap. */
export interface Finding<Kind extends string> {
  readonly kind: Kind;
  /** The text that was found, without invisible characters. */
  readonly value: string;
  /** Parts of the texts that it covers: one, or several if it is split over texts. */
  readonly spans: readonly Span[];
}

export interface Span {
  /** Index of the text. */
  readonly text: number;
  /** UTF-16 code units from the beginning of the text; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Compares findings by where they begin. */
export function byPosition({ spans: [left] }: Finding<string>, { spans: [right] }: Finding<string>): number {
  return (left?.text ?? 0) - (right?.text ?? 0) || (left?.start ?? 0) - (right?.start ?? 0);
}

const shownMax = 100;
const beginningMax = 200;

/** Puts a placeholder for each finding into the texts. A finding that is split over texts is replaced where it begins. */
export function redactFindings({ texts, redact, known }: FindInput, findings: readonly Finding<string>[]): Found {
  const placeholders = new Map((known ?? []).map(([placeholder, value]) => [keyOf(kindOf(placeholder), value), placeholder]));
  const taken = new Set([...(known ?? []).map(([placeholder]) => placeholder), ...writtenIn(texts)]);
  const counts = new Map<string, number>();
  const added: [string, string][] = [];
  const placeholderOf = ({ kind, value }: Finding<string>): string => {
    const given = placeholders.get(keyOf(kind, value));
    if (given !== undefined) return given;
    let placeholder: string;
    do {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      placeholder = `{{${kind}_${counts.get(kind)}}}`;
    } while (taken.has(placeholder));
    placeholders.set(keyOf(kind, value), placeholder);
    if (known !== null) added.push([placeholder, value]);
    return placeholder;
  };
  const cuts: { start: number; end: number; by: string }[][] = texts.map(() => []);
  const shown: Found['shown'][number][] = [];
  for (const finding of findings) {
    const placeholder = placeholderOf(finding);
    if (shown.length < shownMax) shown.push({ kind: finding.kind, placeholder });
    for (const [index, { text, start, end }] of finding.spans.entries()) {
      cuts[text]?.push({ start, end, by: index === 0 ? placeholder : '' });
    }
  }
  const replaced = texts.map((text, index) => cut(text, cuts[index] ?? []));
  return {
    kinds: [...new Set(findings.map(({ kind }) => kind))],
    shown,
    beginning: replaced.join('\n').slice(0, beginningMax),
    replaced: redact && findings.length > 0 ? replaced : null,
    added,
  };
}

function cut(text: string, cuts: { start: number; end: number; by: string }[]): string {
  let written = '';
  let at = 0;
  for (const { start, end, by } of cuts.sort((left, right) => left.start - right.start)) {
    written += text.slice(at, start) + by;
    at = end;
  }
  return written + text.slice(at);
}

/** Placeholders that the texts hold already. They are not used for something new. */
function writtenIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.match(/\{\{[A-Z][A-Z_]{1,40}_\d{1,6}\}\}/g) ?? []);
}

function kindOf(placeholder: string): string {
  return placeholder.replace(/^\{\{|_\d+\}\}$/g, '');
}

function keyOf(kind: string, value: string): string {
  return `${kind} ${value}`;
}
