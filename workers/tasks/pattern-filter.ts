import type { RE2JS } from 're2js';
import { type Instruction, ops } from './pattern-reach.ts';

/** Maximum number of characters in the filter. A longer filter excludes more texts and is slower. */
const lengthMax = 8;
const anyCharacter = '[^]';

/**
 * Returns a native expression that matches at the beginning of every match of the pattern: one class of characters for each of the first
 * positions. It has no repetition, so it takes linear time. Most texts do not match it and need no search. Null if it would match nearly
 * everything.
 */
export function filterOf(expression: RE2JS): RegExp | null {
  const known = filters.get(expression);
  if (known !== undefined) return known;
  const filter = build(expression);
  filters.set(expression, filter);
  return filter;
}

const filters = new WeakMap<RE2JS, RegExp | null>();

function build(expression: RE2JS): RegExp | null {
  const { inst, start } = expression.re2().prog as { inst: Instruction[]; start: number };
  const classes: string[] = [];
  let states = closure(inst, [start]);
  while (classes.length < lengthMax && states !== null) {
    classes.push(classOf(states));
    states = closure(
      inst,
      states.map(({ out }) => out),
    );
  }
  while (classes.at(-1) === anyCharacter) classes.pop();
  return classes.length === 0 || classes.every((each) => each === anyCharacter) ? null : new RegExp(classes.join(''), 'gu');
}

/** Returns the instructions that can read the next character; null if a match can end here or nothing can follow. */
function closure(inst: readonly Instruction[], from: readonly number[]): Instruction[] | null {
  const seen = new Set<number>();
  const reading: Instruction[] = [];
  const pending = [...from];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const instruction = inst[at] as Instruction;
    const { op, out, arg } = instruction;
    if (op === ops.fail) continue;
    if (op === ops.alt || op === ops.altMatch) pending.push(out, arg);
    else if (op === ops.capture || op === ops.emptyWidth || op === ops.nop) pending.push(out);
    else if (op >= ops.rune && op <= ops.anyNotNewline) reading.push(instruction);
    else return null;
  }
  return reading.length === 0 ? null : reading;
}

const rangesMax = 200;

function classOf(reading: readonly Instruction[]): string {
  const ranges = new Set<string>();
  for (const { op, arg, runes } of reading) {
    if (op >= ops.any || runes.length === 0) return anyCharacter;
    if (runes.length === 1) {
      const cases = casesOf(runes[0] as number, (arg & 1) !== 0);
      if (cases === null) return anyCharacter;
      for (const rune of cases) ranges.add(escaped(rune));
    } else
      for (let i = 0; i + 1 < runes.length; i += 2)
        ranges.add(`${escaped(runes[i] as number)}-${escaped(runes[i + 1] as number)}`);
    if (ranges.size > rangesMax) return anyCharacter;
  }
  return `[${[...ranges].join('')}]`;
}

/** Returns a rune, and its other cases if the pattern ignores case. Null for a rune outside ASCII whose case is ignored. */
function casesOf(rune: number, isFolded: boolean): readonly number[] | null {
  if (!isFolded) return [rune];
  if (rune > 0x7f) return null;
  const letter = String.fromCharCode(rune);
  const others = letter.toLowerCase() === 'k' ? [0x212a] : letter.toLowerCase() === 's' ? [0x17f] : [];
  return [letter.toLowerCase().charCodeAt(0), letter.toUpperCase().charCodeAt(0), ...others];
}

function escaped(rune: number): string {
  return `\\u{${rune.toString(16)}}`;
}
