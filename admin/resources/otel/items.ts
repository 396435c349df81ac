import * as v from 'valibot';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { flatMapInTurns } from '../../in-turns.ts';
import { withLangfuseUsage } from './langfuse.ts';
import { itemsMax, tooLarge } from './limits.ts';
import { names } from './vocabulary.ts';

/** Attributes as plain texts, numbers and booleans. Lists and objects are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span or log record that may become a request record. */
export interface OtlpItem {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly errorMessage: string | null;
  readonly attributes: Attributes;
  /** Attributes of the process that sent it. */
  readonly resource: Attributes;
  /** Name of the instrumentation. */
  readonly scope: string;
}

const hex = (digits: number) => v.pipe(v.string(), v.toLowerCase(), v.regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`)));
/** Unix nanoseconds as milliseconds. */
const nano = v.pipe(
  v.union([v.pipe(v.string(), v.regex(/^\d{1,20}$/)), v.number()]),
  v.transform((given) => Number(given) / 1e6),
  v.finite(),
);
// JSON of protobuf may have null for the default of any field.
const anyText = v.nullish(v.string(), '');
/** Null if it is empty or consists of zeros. */
const parentId = v.pipe(
  anyText,
  v.toLowerCase(),
  v.transform((id) => (/^0*$/.test(id) ? null : id)),
);

const span = v.object({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: parentId,
  name: anyText,
  startTimeUnixNano: nano,
  endTimeUnixNano: nano,
  attributes: v.optional(v.unknown()),
  status: v.nullish(v.object({ code: v.nullish(v.union([v.number(), v.string()])), message: anyText })),
});

const logRecord = v.object({
  traceId: hex(32),
  spanId: hex(16),
  timeUnixNano: v.nullish(nano, 0),
  observedTimeUnixNano: v.nullish(nano, 0),
  severityNumber: v.nullish(v.number(), 0),
  attributes: v.optional(v.unknown()),
});

const errorSeverity = 17;
const atFirstIssue = { abortEarly: true } as const;

/**
 * Reads the spans or log records of a message. Null stands for one in another form, which is rejected. Log records outside of spans are left out, unless they
 * are about a model: programs send all their logs. Throws AB01 (413) if there are more than `itemsMax`.
 */
export async function itemsOf(signal: 'traces' | 'logs', message: unknown): Promise<(OtlpItem | null)[]> {
  const given: { readonly item: unknown; readonly around: Around }[] = [];
  const names = { traces: ['resourceSpans', 'scopeSpans', 'spans'], logs: ['resourceLogs', 'scopeLogs', 'logRecords'] } as const;
  const [outer, middle, inner] = names[signal];
  let count = 0;
  const listIn = (holder: unknown, name: string): readonly unknown[] => {
    const list = listOf(holder, name);
    count += list.length;
    if (count > itemsMax) throw tooLarge(`more than ${itemsMax} items`);
    return list;
  };
  for (const part of listIn(message, outer)) {
    const resource = attributesIn(isObject(part) ? part.resource : null);
    for (const scoped of listIn(part, middle)) {
      const scope = isObject(scoped) && isObject(scoped.scope) && typeof scoped.scope.name === 'string' ? scoped.scope.name : '';
      for (const item of listIn(scoped, inner)) given.push({ item, around: { resource, scope } });
    }
  }
  if (signal === 'traces') return flatMapInTurns(given, ({ item, around }) => [readSpan(item, around)]);
  return flatMapInTurns(given, ({ item, around }) => (hasSpanOrModel(item) ? [readLogRecord(item, around)] : []));
}

function hasSpanOrModel(logRecord: unknown): boolean {
  if (!isObject(logRecord) || logRecord.traceId || logRecord.spanId) return true;
  const attributes = attributesIn(logRecord);
  return names.model.some((name) => name in attributes);
}

/** Returns the ids of the spans inside a span, at any depth. */
export type SpansInside = (span: OtlpItem) => string[];

/** The calls inside a span are few. */
const insideMax = 32;

/** Returns a function that lists the spans directly inside a span, among the items of one export. */
export function spansInsideOf(items: readonly OtlpItem[]): SpansInside {
  // Removes repeated ids, because items of an export can share one.
  const byParent = new Map<string, Set<string>>();
  for (const { traceId, spanId, parentSpanId } of items) {
    const parent = `${traceId}/${parentSpanId}`;
    const known = byParent.get(parent);
    if (known === undefined) byParent.set(parent, new Set([spanId]));
    else if (known.size <= insideMax) known.add(spanId);
  }
  return ({ traceId, spanId }) => {
    const found = new Set<string>([spanId]);
    for (const parent of found) {
      for (const child of byParent.get(`${traceId}/${parent}`) ?? []) if (found.size <= insideMax) found.add(child);
    }
    return [...found].slice(1);
  };
}

/** A body has room for hundreds of thousands of empty items, which a schema takes half a second to reject. */
const hasTraceId = (given: unknown): boolean => isObject(given) && typeof given.traceId === 'string';

type Around = Pick<OtlpItem, 'resource' | 'scope'>;

function readSpan(given: unknown, around: Around): OtlpItem | null {
  if (!hasTraceId(given)) return null;
  const parsed = v.safeParse(span, given, atFirstIssue);
  if (!parsed.success) return null;
  const { traceId, spanId, parentSpanId, name, startTimeUnixNano: startMs, endTimeUnixNano: endMs, status } = parsed.output;
  const isError = status?.code === 2 || status?.code === 'STATUS_CODE_ERROR';
  return {
    ...{ traceId, spanId, parentSpanId, name: name || null, startMs, endMs, isError },
    errorMessage: isError ? (status?.message ?? null) : null,
    attributes: withLangfuseUsage(attributesIn(given)),
    ...around,
  };
}

function readLogRecord(given: unknown, around: Around): OtlpItem | null {
  if (!hasTraceId(given)) return null;
  const parsed = v.safeParse(logRecord, given, atFirstIssue);
  if (!parsed.success) return null;
  const { traceId, spanId, timeUnixNano, observedTimeUnixNano, severityNumber } = parsed.output;
  const atMs = timeUnixNano || observedTimeUnixNano;
  return {
    ...{ traceId, spanId, parentSpanId: null, name: null, startMs: atMs, endMs: atMs, errorMessage: null },
    isError: severityNumber >= errorSeverity,
    attributes: attributesIn(given),
    ...around,
  };
}

function attributesIn(holder: unknown): Attributes {
  const found: Record<string, string | number | boolean> = Object.create(null);
  for (const pair of listOf(holder, 'attributes')) {
    if (!isObject(pair) || typeof pair.key !== 'string' || !isObject(pair.value)) continue;
    const { stringValue, intValue, doubleValue, boolValue } = pair.value;
    if (typeof stringValue === 'string') found[pair.key] = stringValue;
    else if (typeof boolValue === 'boolean') found[pair.key] = boolValue;
    else if (intValue !== undefined && intValue !== null && Number.isFinite(Number(intValue))) found[pair.key] = Number(intValue);
    else if (typeof doubleValue === 'number') found[pair.key] = doubleValue;
  }
  return found;
}

function listOf(holder: unknown, name: string): readonly unknown[] {
  const list = isObject(holder) ? holder[name] : null;
  return Array.isArray(list) ? list : [];
}
