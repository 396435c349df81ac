import { createHash } from 'node:crypto';
import type { PromptDocument, PromptPartialDocument, PromptVersionDocument } from '../../../core/contract/protocol/prompts.ts';
import { organisationId, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

type Version = Partial<PromptVersionDocument>;

/** The same id for the same name. */
export function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A prompt of the harness's workspace with versions 1, 2, …; the first is published and the last is the newest. */
export function samplePrompt(slug: string, versions: readonly Version[], changes: Partial<PromptDocument> = {}): PromptDocument {
  return {
    ...{ id: idOf(slug), slug, organisationId, workspaceId, sharedWith: null, default: 1, latest: versions.length, labels: {} },
    versions: Object.fromEntries(versions.map((version, i) => [String(i + 1), sampleVersion(`${slug} ${i + 1}`, version)])),
    ...changes,
  };
}

function sampleVersion(name: string, changes: Version): PromptVersionDocument {
  return {
    id: idOf(name),
    template: 'Hello {{name}}',
    isRaw: false,
    parameters: { temperature: 0.2, max_tokens: 100 },
    model: 'm-saved',
    virtualKey: 'one',
    functions: null,
    tools: null,
    toolChoice: null,
    metadata: null,
    ...changes,
  };
}

export function samplePartial(
  slug: string,
  texts: readonly string[],
  changes: Partial<PromptPartialDocument> = {},
): PromptPartialDocument {
  return {
    ...{ id: idOf(slug), slug, organisationId, workspaceId, sharedWith: null, default: 1, latest: texts.length },
    versions: Object.fromEntries(texts.map((text, i) => [String(i + 1), { id: idOf(`${slug} ${i + 1}`), text }])),
    ...changes,
  };
}

/** A template of chat messages, as it is saved. */
export function messages(...contents: readonly string[]): string {
  return JSON.stringify(contents.map((content, i) => ({ role: i === contents.length - 1 ? 'user' : 'system', content })));
}
