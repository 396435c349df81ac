import * as v from 'valibot';
import {
  type AgentInterface,
  agentBindings,
  cardBytesMax,
  missingCardMember,
} from '../../../core/contract/protocol/agents/agents.ts';
import { withoutTrailingSlashes } from '../../../core/contract/values/addresses/trailing-slashes.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';

/** A card of either version, stored as it was sent. */
export const agentCard = v.pipe(
  v.record(v.string(), v.unknown()),
  v.check((card) => missingCardMember(card) !== 'name', 'a card needs a name'),
  v.check((card) => missingCardMember(card) !== 'url', 'a card needs a url (0.3) or supportedInterfaces (1.0)'),
  v.check((card) => Buffer.byteLength(JSON.stringify(card)) <= cardBytesMax, `at most ${cardBytesMax} bytes`),
);

export interface CardSkill {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly tags: string[];
  readonly examples: string[];
  readonly inputModes: string[];
  readonly outputModes: string[];
}

/** Skills of a card. Skills without an id cannot be named and are left out. */
export function skillsOf(card: JsonObject | null | undefined): CardSkill[] {
  const skills = card?.skills;
  if (!Array.isArray(skills)) return [];
  return skills.flatMap((one) => {
    if (!isObject(one) || typeof one.id !== 'string' || one.id === '') return [];
    return [
      {
        ...{ id: one.id, name: textOf(one.name), description: textOf(one.description) },
        ...{ tags: textsOf(one.tags), examples: textsOf(one.examples) },
        ...{ inputModes: textsOf(one.inputModes), outputModes: textsOf(one.outputModes) },
      },
    ];
  });
}

/**
 * Returns the interfaces of a card that calls may use. The stored URL was checked and chosen by an administrator, so an interface counts only
 * on the same origin, and only if the URL is a prefix of it or is itself an interface of the card.
 */
export function usableInterfaces(url: string, card: JsonObject | null | undefined): AgentInterface[] {
  if (!card) return [];
  // As servers read them: `/base/../other` does not lie below `/base`.
  const plain = (text: string) => withoutTrailingSlashes(URL.parse(text)?.href ?? text);
  const base = plain(url);
  const all = interfacesOf(card);
  const isListed = all.some((one) => plain(one.url) === base);
  const isUsable = (one: AgentInterface): boolean =>
    URL.parse(one.url)?.origin === URL.parse(url)?.origin &&
    (isListed || plain(one.url) === base || plain(one.url).startsWith(`${base}/`));
  return all.filter(isUsable);
}

function interfacesOf(card: JsonObject): AgentInterface[] {
  const version = textOf(card.protocolVersion);
  const of03 = Array.isArray(card.additionalInterfaces) ? card.additionalInterfaces : [];
  const of10 = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces : [];
  const first = { url: card.url, transport: card.preferredTransport ?? 'JSONRPC' };
  return [...of10, first, ...of03].flatMap((one) => {
    if (!isObject(one) || typeof one.url !== 'string' || URL.parse(one.url) === null) return [];
    const binding = agentBindings.find((known) => known === (one.protocolBinding ?? one.transport));
    if (binding === undefined) return [];
    const stated = one.protocolBinding === undefined ? (version ?? '0.3') : textOf(one.protocolVersion);
    return [{ binding, url: one.url, version: shortVersion(stated) }];
  });
}

/** `0.3.0` is the version 0.3. */
function shortVersion(version: string | null): string | null {
  return /^\d+\.\d+/.exec(version ?? '')?.[0] ?? null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
