import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { decodeBase64 } from '../decode-base64.ts';
import { byPosition, type Finding, type Span } from '../redact-findings.ts';
import { originalRange, unmask } from '../unmask.ts';
import { secretPatterns } from './patterns.ts';

const preset = '@secretlint/secretlint-rule-preset-recommend';
const config = { rules: [{ id: preset, rule: creator, options: {}, disabled: false }] };
const decodedMax = 20;

/**
 * Finds secrets with secretlint and with own patterns, also split over texts, between invisible characters and in base64. Runs in threads
 * only: the patterns of secretlint are not proven linear.
 */
export async function searchSecrets(texts: readonly string[]): Promise<readonly Finding<string>[]> {
  const unmasked = texts.map(unmask);
  const whole = unmasked.map(({ text }) => text).join('');
  const found: { kind: string; start: number; end: number }[] = await search(whole);
  for (const { text, start, end } of decodeBase64(whole).slice(0, decodedMax)) {
    const [first] = await search(text);
    if (first) found.push({ kind: first.kind, start, end });
  }
  const covered = new Uint8Array(whole.length);
  const findings: Finding<string>[] = [];
  for (const { kind, start, end } of found) {
    if (start >= end || covered.subarray(start, end).includes(1)) continue;
    covered.fill(1, start, end);
    findings.push({ kind, value: whole.slice(start, end), spans: spansOf(unmasked, start, end) });
  }
  return findings.sort(byPosition);
}

async function search(content: string): Promise<{ kind: string; start: number; end: number }[]> {
  const source = { filePath: 'text.txt', content, ext: '.txt', contentType: 'text' as const };
  const { messages } = await lintSource({ source, options: { config } });
  const found = messages.map(({ messageId, range: [start, end] }) => ({ kind: kindOf(messageId), start, end }));
  for (const { kind, pattern, isValid } of secretPatterns) {
    for (const match of content.matchAll(pattern)) {
      const value = match.groups?.value ?? match[0];
      const [start, end] = match.indices?.groups?.value ?? [match.index, match.index + value.length];
      if (!isValid || isValid(value)) found.push({ kind, start, end });
    }
  }
  return found;
}

/** Names a finding of secretlint in the form of the others: `PostgreSQLConnection` becomes `POSTGRE_SQL_CONNECTION`. */
function kindOf(messageId: string): string {
  const words = messageId.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z])([A-Z][a-z])/g, '$1_$2');
  return words.toUpperCase().replace(/[^A-Z]+/g, '_');
}

/** The parts of the original texts that a range of the joined text covers. */
function spansOf(unmasked: readonly ReturnType<typeof unmask>[], start: number, end: number): Span[] {
  const spans: Span[] = [];
  let offset = 0;
  for (const [text, part] of unmasked.entries()) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, part.text.length);
    if (from < to) spans.push({ text, ...originalRange(part, from, to) });
    offset += part.text.length;
  }
  return spans;
}
