import { expect, it } from 'vitest';
import type { DocumentReader } from '../../../core/contract/plugin/plugin.ts';
import type { PromptPartialDocument } from '../../../core/contract/protocol/prompts.ts';
import { collectPartials } from '../../../core/prompts/collect-partials.ts';
import { compileTemplate } from '../../../core/prompts/compile-template.ts';

const home = { organisationId: 'o', workspaceId: 'w' };
const homes = { prompt: home, caller: home };

/** Collects `count` partials with the same text. */
function collect(count: number, text: string) {
  const partial = { ...home, default: 1, latest: 1, versions: { 1: { text } } } as unknown as PromptPartialDocument;
  const reader = { get: (_: string, id: string) => (id.startsWith('w/pp-') ? { ...partial, id } : null) };
  const template = compileTemplate(Array.from({ length: count }, (_, i) => `{{>pp-${i}}}`).join(''), { isRaw: false });
  return collectPartials(reader as unknown as DocumentReader, template, homes, {});
}

it('collects at most 200 partials, of at most 1,600,000 characters together', () => {
  expect(collect(200, 'x'.repeat(8_000))).toMatchObject({ all: { length: 200 } });
  expect(() => collect(201, 'x')).toThrow('A prompt can have at most 200 partials');
  expect(() => collect(200, 'x'.repeat(8_001))).toThrow('The partials of a prompt can have at most 1600000 characters together');
});
