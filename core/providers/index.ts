import { withClientCredentials } from '../cloud-auth/oauth-client-credentials.ts';
import { type TokenExchange, withFederation } from '../cloud-auth/workload-federation.ts';
import type { ModelsInBody, ModelsInPath } from '../contract/provider/model-sources.ts';
import type { ProviderAdapter } from '../contract/provider/provider.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import { isObject } from '../contract/values/json/json.ts';
import { storedResponses } from '../formats/stored/stored-responses.ts';
import { guardAdapter } from '../provider-host/guard-adapter.ts';
import { addedProviders } from '../provider-settings/added-providers.ts';
import type { ProviderDeclaration } from '../provider-settings/declaration.ts';
import { withCustomTools, withCustomToolsInResponses } from '../translate/custom-tools/custom-tools.ts';
import { estimatedTokenCount } from '../translate/estimated-token-count.ts';
import { messagesOverChat } from '../translate/messages-over-chat/messages-over-chat.ts';
import type { ChatExtras } from '../translate/messages-over-chat/request.ts';
import { responsesOverChat } from '../translate/responses-over-chat/responses-over-chat.ts';
import { declarations } from './declarations.ts';

const loaded = new Set((await Promise.all(declarations.map(loadAdapters))).flat());
const adapters: ReadonlyMap<string, ListedAdapter> = new Map([...loaded].map((adapter) => [adapter.id, adapter]));
const added: ReadonlySet<string> = new Set(addedProviders().map(({ id }) => id));

/**
 * The adapters by id and alias. An alias leads to the adapter of its id. Each has the operations and authentication modes that are
 * added to every provider. A new provider is one line in `list.ts`.
 */
export const providers: ReadonlyMap<string, ProviderAdapter> = new Map(
  declarations.flatMap(({ id, aliases }) => {
    const listed = adapters.get(id);
    if (!listed) throw new Error(`PROVIDERS: the module that ${id} loads has no adapter of this id in its export adapters`);
    const complete = withVariants(listed, added.has(id) ? (adapter) => completed(guardAdapter(adapter)) : completed);
    return [id, ...aliases].map((name) => [name, complete] as const);
  }),
);

/** Returns the adapters of the module of a provider. Rejects with an Error that names the provider. */
async function loadAdapters(declaration: ProviderDeclaration): Promise<readonly ListedAdapter[]> {
  try {
    const { adapters: exported = [] } = (await declaration.load()) ?? {};
    if (Array.isArray(exported) && (exported as unknown[]).every(isObject)) return exported;
    throw new Error('adapters: expected a list of adapters');
  } catch (thrown) {
    throw new Error(`PROVIDERS: the adapter of ${declaration.id} cannot be loaded: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** Adds the operations and authentication modes that every provider has. */
function completed(adapter: ListedAdapter): ProviderAdapter {
  const authenticated = withClientCredentials(withAdapters(adapter));
  return adapter.federation ? withFederation(authenticated, adapter.federation) : authenticated;
}

/** Completes an adapter and each variant of it, once. The authentication modes are variants too, of the variant that the settings require. */
function withVariants(listed: ListedAdapter, complete: (adapter: ListedAdapter) => ProviderAdapter): ProviderAdapter {
  const own = complete(listed);
  const variants = new WeakMap<ProviderAdapter, ProviderAdapter>();
  if (!listed.variant) return own;
  return {
    ...own,
    variant(given) {
      const required = listed.variant?.(given) ?? null;
      if (required === null) return own.variant?.(given) ?? null;
      let variant = variants.get(required);
      if (!variant) {
        variant = complete(required);
        variants.set(required, variant);
      }
      return variant.variant?.(given) ?? variant;
    },
  };
}

/** Lower-case names of the client headers that adapters pass on unchanged. */
export const forwardedHeaders: readonly string[] = [
  ...new Set([...providers.values()].flatMap(({ forwards = [] }) => forwards)),
].sort();

/** Lower-case names of the client headers that select a model at any provider. */
export const modelHeaders: readonly string[] = [
  ...new Set([...providers.values()].flatMap(({ modelSources }) => modelSources?.headers ?? [])),
].sort();

const bodySources = new Set([...providers.values()].flatMap(({ modelSources }) => modelSources?.inBody ?? []));

/** Returns the models in other fields of a pass-through body, as any provider reads them. */
export const modelsInBody: ModelsInBody = (path, body) => [...bodySources].flatMap((inBody) => inBody(path, body));

const pathSources = new Set([...providers.values()].flatMap(({ modelSources }) => modelSources?.inPath ?? []));

/** Returns the models in the path of a pass-through POST, as the providers read them that select models by paths of their own. */
export const modelsInPath: ModelsInPath = (path) => [...pathSources].flatMap((inPath) => inPath(path) ?? []);

/** An adapter, and data from which members that all providers have are made. */
type ListedAdapter = ProviderAdapter & {
  readonly chatExtras?: ChatExtras;
  readonly federation?: TokenExchange;
};

/**
 * Adds what a provider lacks: custom tools, unless it declares `customTools`, Messages and Responses calls over its chat
 * completions, and an estimate of the tokens of a Messages call.
 */
export function withAdapters(adapter: ListedAdapter): ProviderAdapter {
  const { chatComplete: chat, messages, messagesCountTokens, createModelResponse } = adapter.operations;
  if (!chat) return adapter;
  const chatComplete = adapter.customTools ? chat : withCustomTools(chat);
  const ownResponses =
    createModelResponse && !adapter.customTools ? withCustomToolsInResponses(createModelResponse) : createModelResponse;
  return {
    ...adapter,
    ...(ownResponses ? {} : { responsesOverChat: true as const }),
    operations: {
      ...adapter.operations,
      chatComplete,
      messages: messages ?? messagesOverChat(chat, adapter.chatExtras),
      messagesCountTokens: messagesCountTokens ?? estimatedTokenCount,
      createModelResponse: ownResponses ?? responsesOverChat(chatComplete, adapter.chatExtras),
      ...storedResponses(adapter),
    },
  };
}
