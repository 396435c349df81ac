import type { RE2JS } from 're2js';
import type { PatternReach } from '../../core/contract/plugin/services/worker-tasks.ts';

/** An instruction of a compiled pattern, as far as its length needs it. */
export interface Instruction {
  readonly op: number;
  readonly out: number;
  /** The other branch of an alternative; of a rune, 1 if it stands for its other cases too. */
  readonly arg: number;
  readonly runes: ArrayLike<number>;
}

/** Kinds of instructions. Those from `rune` to `anyNotNewline` read a character. */
export const ops = {
  ...{ alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, fail: 5, match: 6, nop: 7 },
  ...{ rune: 8, any: 10, anyNotNewline: 11 },
} as const;

/** Returns the least and the most UTF-16 code units that a match takes. */
export function reachOf(expression: RE2JS): PatternReach {
  const known = measured.get(expression);
  if (known) return known;
  const reach = measure(expression);
  measured.set(expression, reach);
  return reach;
}

const measured = new WeakMap<RE2JS, PatternReach>();

function measure(expression: RE2JS): PatternReach {
  const { inst, start } = expression.re2().prog;
  const known = new Map<number, { least: number; most: number } | null>();
  const walk = (at: number): { least: number; most: number } => {
    const found = known.get(at);
    // An instruction that leads back to itself is a repetition without bound.
    if (found === null) return { least: Number.POSITIVE_INFINITY, most: Number.POSITIVE_INFINITY };
    if (found !== undefined) return found;
    known.set(at, null);
    const reach = walkInstruction(inst[at] as Instruction);
    known.set(at, reach);
    return reach;
  };
  const walkInstruction = ({ op, out, arg, runes }: Instruction): { least: number; most: number } => {
    if (op === ops.match) return { least: 0, most: 0 };
    if (op === ops.fail) return { least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
    if (op === ops.alt || op === ops.altMatch) {
      const [left, right] = [walk(out), walk(arg)];
      return { least: Math.min(left.least, right.least), most: Math.max(left.most, right.most) };
    }
    if (op === ops.capture || op === ops.emptyWidth || op === ops.nop) return walk(out);
    // Look-behind: the text before the match decides about it.
    if (op < ops.rune || op > ops.anyNotNewline) return { least: 0, most: Number.POSITIVE_INFINITY };
    const next = walk(out);
    return { least: next.least + 1, most: next.most + widthOf(op, runes) };
  };
  const { least, most } = walk(start);
  return { least, most: most === Number.POSITIVE_INFINITY ? null : Math.max(0, most), instructions: inst.length };
}

function widthOf(op: number, runes: ArrayLike<number>): number {
  if (op >= ops.any) return 2;
  let width = 1;
  for (let i = 0; i < runes.length; i++) if ((runes[i] as number) > 0xffff) width = 2;
  return width;
}
