import { cardBytesMax, missingCardMember } from '../contract/protocol/agents/agents.ts';
import type { UpstreamSender, UpstreamTimeouts } from '../contract/provider/upstream.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { isStorable } from '../contract/values/json/storable-json.ts';
import { textOf } from '../contract/values/text/utf8.ts';
import { exchangeStream } from '../pipeline/attempt/exchange-stream.ts';
import type { AgentAddress } from './agent-settings.ts';

/** The two places of a card. The second is that of versions before 0.3. */
const wellKnown: readonly string[] = ['/.well-known/agent-card.json', '/.well-known/agent.json'];

/** True for the path of a card below that of an agent. */
export function isCardPath(rest: string): boolean {
  return wellKnown.includes(rest);
}

export interface CardRequest {
  readonly sender: UpstreamSender;
  readonly tenant: string;
  readonly address: AgentAddress;
  readonly headers: Readonly<Record<string, string>>;
  /** Version of the protocol, for agents that have a card for each. */
  readonly version: string;
  /** Limits of one exchange. */
  timeouts(): UpstreamTimeouts;
  /** Called with the status of each reply. */
  onStatus?(status: number): void;
}

export interface FoundCard {
  readonly url: string;
  readonly card: JsonObject;
}

/**
 * Fetches the card of an agent: below its path, and then at the root of its host. Redirects are not followed. Throws GatewayError
 * `upstream_…` with the reason if no path has a card.
 */
export async function fetchCard(request: CardRequest): Promise<FoundCard> {
  const { origin, path } = request.address;
  let failure: GatewayError | null = null;
  for (const cardPath of cardPathsOf(path)) {
    const found = await fetchFrom(request, cardPath);
    if (!(found instanceof GatewayError)) return { url: `${origin}${cardPath}`, card: found };
    // A card that cannot be used explains more than a path without one.
    if (failure === null || (failure.code === 'upstream_status' && found.code === 'upstream_invalid')) failure = found;
  }
  throw failure;
}

function cardPathsOf(path: string): string[] {
  const named = wellKnown.find((one) => path.endsWith(one));
  if (named !== undefined) return [path];
  return [...new Set([...wellKnown.map((one) => path + one), ...wellKnown])];
}

async function fetchFrom(
  { sender, tenant, address, headers, version, timeouts, onStatus }: CardRequest,
  path: string,
): Promise<JsonObject | GatewayError> {
  const { origin, query } = address;
  const exchange = exchangeStream(sender, {
    ...{ tenant, origin, path: query === '' ? path : `${path}?${query}`, method: 'GET', body: null, timeouts: timeouts() },
    headers: [
      ...Object.entries(headers).flat(),
      'accept',
      'application/json',
      'a2a-version',
      version,
      'user-agent',
      'svc-gateway',
    ],
  });
  const { status } = await exchange.head;
  onStatus?.(status);
  if (status !== 200) {
    exchange.abort();
    return new GatewayError('upstream_status', { message: `The agent replied with ${status} to ${path}` });
  }
  const bytes = await exchange.whole(cardBytesMax);
  if (bytes === null)
    return new GatewayError('upstream_invalid', { message: `The card at ${path} has more than ${cardBytesMax} bytes` });
  const card = parseObject(textOf(bytes));
  if (card === null) return new GatewayError('upstream_invalid', { message: `The card at ${path} is not a JSON object` });
  if (!isStorable(card)) {
    const message = `The card at ${path} is nested too deeply, or contains U+0000 or half of a surrogate pair`;
    return new GatewayError('upstream_invalid', { message });
  }
  const missing = missingCardMember(card);
  if (missing === null) return card;
  return new GatewayError('upstream_invalid', { message: `The card at ${path} has no ${missing}` });
}
