import { isDeepStrictEqual } from 'node:util';
import { diffArrays, diffWordsWithSpace } from 'diff';
import type { PromptVersion } from './entity.ts';

/** A stretch of a text. `removed` is only in the older version, `added` only in the newer one. */
interface TextPart {
  readonly change: 'same' | 'added' | 'removed';
  readonly text: string;
}

export interface MessageChange {
  readonly change: 'same' | 'changed' | 'added' | 'removed';
  /** Null for the text of a prompt without messages. */
  readonly role: string | null;
  /** Position in the older version, from 0; null if it was added. */
  readonly from: number | null;
  /** Position in the newer version, from 0; null if it was removed. */
  readonly to: number | null;
  readonly parts: readonly TextPart[];
}

export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Maximum number of differing words or messages; the cost is quadratic in it. Texts that differ more are shown as removed and added. */
const editsMax = 500;

/** Compares the messages of two versions one by one, and their other fields. */
export function compareVersions(from: PromptVersion, to: PromptVersion): { messages: MessageChange[]; fields: FieldChange[] } {
  return { messages: compareMessages(messagesOf(from), messagesOf(to)), fields: compareFields(fieldsOf(from), fieldsOf(to)) };
}

interface Message {
  readonly role: string | null;
  readonly text: string;
}

/** Messages of a template. A template that is no JSON list, also a raw one with tags between its messages, is one text. */
function messagesOf({ string }: PromptVersion): Message[] {
  let list: unknown = null;
  try {
    list = JSON.parse(string);
  } catch {
    // A text.
  }
  return Array.isArray(list) ? list.map(toMessage) : [{ role: null, text: string }];
}

function toMessage(message: unknown): Message {
  const { role, content, ...rest } = (message ?? {}) as { role?: unknown; content?: unknown };
  const isPlain = typeof content === 'string' && Object.keys(rest).length === 0;
  return {
    role: typeof role === 'string' ? role : null,
    text: isPlain ? content : JSON.stringify({ content, ...rest }, null, 2),
  };
}

function compareMessages(before: readonly Message[], after: readonly Message[]): MessageChange[] {
  const changes: MessageChange[] = [];
  let [from, to] = [0, 0];
  const isSame = (a: Message, b: Message) => a.role === b.role && a.text === b.text;
  const hunks = diffArrays([...before], [...after], { comparator: isSame, maxEditLength: editsMax }) ?? [
    { removed: true, added: false, value: [...before] },
    { removed: false, added: true, value: [...after] },
  ];
  hunks.forEach((hunk, index) => {
    if (!hunk.added && !hunk.removed) {
      for (const { role, text } of hunk.value) {
        changes.push({ change: 'same', role, from: from++, to: to++, parts: [{ change: 'same', text }] });
      }
    } else if (hunk.removed) {
      const next = hunks[index + 1];
      const added = next?.added ? next.value : [];
      const paired = pair(hunk.value, added);
      for (const [old, fresh] of paired) changes.push(toChange(old, fresh, old ? from++ : null, fresh ? to++ : null));
    } else if (!hunks[index - 1]?.removed) {
      for (const message of hunk.value) changes.push(toChange(undefined, message, null, to++));
    }
  });
  return changes;
}

/** Pairs messages of the same role in order. A message without a partner is alone. */
function pair(removed: readonly Message[], added: readonly Message[]): [Message | undefined, Message | undefined][] {
  const pairs: [Message | undefined, Message | undefined][] = [];
  let next = 0;
  for (const old of removed) {
    const at = added.findIndex((fresh, index) => index >= next && fresh.role === old.role);
    if (at === -1) {
      pairs.push([old, undefined]);
      continue;
    }
    for (; next < at; next++) pairs.push([undefined, added[next]]);
    pairs.push([old, added[next++]]);
  }
  for (; next < added.length; next++) pairs.push([undefined, added[next]]);
  return pairs;
}

function toChange(old: Message | undefined, fresh: Message | undefined, from: number | null, to: number | null): MessageChange {
  const role = (fresh ?? old)?.role ?? null;
  if (old && fresh) return { change: 'changed', role, from, to, parts: compareTexts(old.text, fresh.text) };
  const change = fresh ? 'added' : 'removed';
  return { change, role, from, to, parts: [{ change, text: (fresh ?? old)?.text ?? '' }] };
}

function compareTexts(before: string, after: string): TextPart[] {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: editsMax });
  if (!parts) {
    return [
      { change: 'removed', text: before },
      { change: 'added', text: after },
    ];
  }
  return parts.map(({ added, removed, value }) => ({ change: added ? 'added' : removed ? 'removed' : 'same', text: value }));
}

/** Fields of a version besides its messages. Parameters are compared one by one. */
function fieldsOf(version: PromptVersion): Record<string, unknown> {
  const parameters = Object.entries(version.parameters).map(([name, value]) => [`parameters.${name}`, value] as const);
  return {
    ...Object.fromEntries(parameters),
    model: version.model ?? null,
    virtual_key: version.virtualKey ?? null,
    functions: version.functions ?? [],
    tools: version.tools ?? [],
    tool_choice: version.toolChoice ?? null,
    template_metadata: version.templateMetadata ?? null,
    is_raw_template: version.isRawTemplate ? 1 : 0,
  };
}

function compareFields(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((field) => ({ field, from: before[field] ?? null, to: after[field] ?? null }));
}
