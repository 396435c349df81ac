import { invalid } from '../../http/errors.ts';
import { flatMapInTurns } from '../../in-turns.ts';
import { readAnthropicCosts, readAnthropicUsage } from './formats/anthropic.ts';
import { readAwsReport } from './formats/aws.ts';
import { readCsv } from './formats/csv.ts';
import { readOpenAiCosts } from './formats/openai.ts';

/** The amounts that a provider billed for one model on one day. Null: the bill does not state it. */
export interface BilledLine {
  /** `2026-11-23`, UTC. */
  readonly day: string;
  /** Name of the model in the bill; null: the line is for all models. */
  readonly name: string | null;
  readonly costNano: number | null;
  /** Every kind of input, also cached. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** Reads one format. Throws AB01 that names the location in `data`. */
type ReadBill = (data: unknown) => Promise<BilledLine[]>;

/** Reader of each format, and the provider that it belongs to. */
const formats = {
  openai_costs: { provider: 'openai', read: readOpenAiCosts },
  anthropic_costs: { provider: 'anthropic', read: readAnthropicCosts },
  anthropic_usage: { provider: 'anthropic', read: readAnthropicUsage },
  aws_cur: { provider: 'bedrock', read: readAwsReport },
  csv: { provider: null, read: readCsv },
} as const satisfies Readonly<Record<string, { readonly provider: string | null; readonly read: ReadBill }>>;

export type BillFormat = keyof typeof formats;
export const billFormats = Object.keys(formats) as [BillFormat, ...BillFormat[]];

/** Bounds the row that holds a bill. */
const linesMax = 10_000;

/** Returns the provider whose bills have this format; null: any. */
export function providerOfFormat(format: BillFormat): string | null {
  return formats[format].provider;
}

/** Longest name of a model, as in configs. */
const nameCharsMax = 255;

/** Returns the lines of a bill, one for each day and name, sorted. Throws AB01 if `data` is not such a bill. */
export async function readBill(format: BillFormat, data: unknown): Promise<BilledLine[]> {
  const sums = new Map<string, BilledLine>();
  await flatMapInTurns(await formats[format].read(data), (line) => {
    requireShort(line.name ?? '');
    const key = JSON.stringify([line.day, line.name]);
    const known = sums.get(key);
    sums.set(key, known ? addLines(known, line) : line);
    return [];
  });
  if (sums.size === 0) throw invalid('data: the bill has no lines');
  if (sums.size > linesMax) throw invalid(`data: got ${sums.size} days and models, expected at most ${linesMax}`);
  return [...sums.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => line);
}

function requireShort(name: string): void {
  if (name.length <= nameCharsMax) return;
  const beginning = JSON.stringify(name.slice(0, 40));
  throw invalid(`data: the model that begins with ${beginning} has ${name.length} characters, expected at most ${nameCharsMax}`);
}

function addLines(one: BilledLine, other: BilledLine): BilledLine {
  return {
    ...one,
    costNano: addAmounts(one.costNano, other.costNano),
    inputTokens: addAmounts(one.inputTokens, other.inputTokens),
    outputTokens: addAmounts(one.outputTokens, other.outputTokens),
  };
}

/** Adds amounts that may be unknown. */
export function addAmounts(one: number | null, other: number | null): number | null {
  if (one === null) return other;
  return other === null ? one : one + other;
}
