import type { MediaRecord, RequestRecord } from '../../core/contract/plugin/record/record.ts';

type TokenCount = 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'outputTokens' | 'reasoningTokens';
type Counts = Pick<RequestRecord, TokenCount | 'media'>;

/**
 * Returns the responses of a session with another service tier or size than its first one as records of their own, and the record without
 * them. Each part has the price of its tier and of its average size.
 */
export function partsOfSession(record: RequestRecord): {
  readonly own: RequestRecord;
  readonly others: readonly RequestRecord[];
} {
  const { session } = record;
  const parts = session?.parts ?? [];
  if (!session || parts.length === 0) return { own: record, others: [] };
  const { media: _media, image: _image, serviceTier: _serviceTier, ...call } = record;
  // Billed calls of tools are in the counts of the whole session.
  const others = parts.map(({ responses, ...usage }) => ({
    ...call,
    rawUsage: null,
    ...usage,
    session: { ...session, responses },
  }));
  const responses = parts.reduce((left, part) => left - part.responses, session.responses ?? 0);
  return { own: { ...record, ...countsWithout(record, parts), session: { ...session, responses } }, others };
}

/** Returns the counts of a record without these parts of them. */
export function countsWithout(record: RequestRecord, parts: readonly Counts[]): Counts {
  const left = <Name extends TokenCount>(name: Name): number =>
    Math.max(0, record[name] - parts.reduce((sum, part) => sum + part[name], 0));
  return {
    inputTokens: left('inputTokens'),
    cacheReadTokens: left('cacheReadTokens'),
    cacheWriteTokens: left('cacheWriteTokens'),
    outputTokens: left('outputTokens'),
    reasoningTokens: left('reasoningTokens'),
    media: record.media ? parts.reduce<MediaRecord>((rest, part) => mediaWithout(rest, part.media), record.media) : record.media,
  };
}

function mediaWithout(from: MediaRecord, part: MediaRecord | null | undefined): MediaRecord {
  if (!part) return from;
  const less = (count: number, by: number): number => Math.max(0, count - by);
  return {
    audioInputTokens: less(from.audioInputTokens, part.audioInputTokens),
    audioOutputTokens: less(from.audioOutputTokens, part.audioOutputTokens),
    imageInputTokens: less(from.imageInputTokens, part.imageInputTokens),
    imageOutputTokens: less(from.imageOutputTokens, part.imageOutputTokens),
    units: Object.fromEntries(Object.entries(from.units).map(([unit, amount]) => [unit, less(amount, part.units[unit] ?? 0)])),
  };
}
