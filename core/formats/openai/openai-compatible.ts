import type { ModelSources } from '../../contract/provider/model-sources.ts';
import type {
  Operation,
  OperationCall,
  OperationName,
  ProviderAdapter,
  ProviderSettings,
} from '../../contract/provider/provider.ts';
import { withoutTrailingSlashes } from '../../contract/values/addresses/trailing-slashes.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { declared, type ProviderDeclaration } from '../../provider-settings/declaration.ts';
import { chatOrResponses, sealedReasoning } from '../../translate/chat-over-responses/chat-over-responses.ts';
import { completionsOrChat, completionsOverChat } from '../../translate/completions-over-chat.ts';
import type { ChatExtra, ChatExtras } from '../../translate/messages-over-chat/request.ts';
import { type CompatibleMedia, type MediaOperation, mediaOperations } from '../media/compatible-media.ts';
import { type StoredFamilies, storedOperations } from '../stored/stored-files.ts';
import { chatCompletions } from './chat-completions.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { completions } from './completions.ts';
import { type EmbedQuirks, embeddings } from './embeddings.ts';
import { providerError } from './provider-error.ts';
import { realtime } from './realtime.ts';
import { responses } from './responses.ts';

/** A provider with the OpenAI API, described as data: only the differences are declared. */
export interface CompatibleProvider extends CompatibleMedia {
  /**
   * Without trailing slash. Null if every user has their own host, which `custom_host` must name. A function if it depends on
   * settings.
   */
  readonly baseUrl: string | null | ((settings: ProviderSettings) => string);
  /** Path of the API below the base URL. Default: none. */
  readonly pathPrefix?: string | ((settings: ProviderSettings) => string);
  readonly operations: readonly CompatibleOperation[];
  /** Returns the credential headers if they differ from `Authorization: Bearer <key>`. */
  readonly credential?: (key: string) => HeaderList;
  /** Headers other than the credential. */
  readonly headers?: (settings: ProviderSettings) => HeaderList;
  readonly forwards?: readonly string[];
  readonly chat?: ChatQuirks;
  /** True if its chat completions serve text completions. */
  readonly completesOverChat?: boolean;
  /** Selects the text completions that its chat completions serve, because the model has no others. */
  readonly completesByChat?: (call: OperationCall) => boolean;
  readonly embed?: EmbedQuirks;
  /** Fields of the Messages format beyond OpenAI's that its chat completions accept. */
  readonly chatExtras?: readonly ChatExtra[];
  /** True if it accepts custom tools, whose input is free text. Otherwise they are sent as functions. */
  readonly customTools?: true;
  /** Selects the chat calls that use its Responses API. Default: those for which the setting `use_responses_api` is on. */
  readonly byResponses?: (call: OperationCall) => boolean;
  /** Resources that it stores in OpenAI's form: files, batches, fine-tuning jobs. */
  readonly stored?: StoredFamilies;
  /** True if it has realtime sessions. */
  readonly realtime?: boolean;
  /** Returns the path of a pass-through call, and of responses, if it is not prefix + path. */
  readonly proxyPath?: (path: string, settings: ProviderSettings) => string;
  readonly modelSources?: ModelSources;
}

/** A provider as above, with the declaration that supplies its id and settings. */
export type CompatibleInput = Omit<CompatibleProvider, 'id'> & {
  readonly declaration: ProviderDeclaration;
};

/** An adapter with the fields of the Messages format that its chat completions support. */
export type CompatibleAdapter = ProviderAdapter & { readonly chatExtras: ChatExtras };

type CompatibleOperation = Extract<OperationName, 'chatComplete' | 'complete' | 'embed' | 'createModelResponse'> | MediaOperation;

/**
 * Returns the adapter of an OpenAI-compatible provider. Request and reply bytes pass unchanged, except for quirks and for the
 * token counts that the gateway requests in streams.
 */
export function openAiCompatible({ declaration, ...given }: CompatibleInput): CompatibleAdapter {
  const row: CompatibleProvider = { ...given, id: declaration.id };
  const prefix = (settings: ProviderSettings): string =>
    typeof row.pathPrefix === 'function' ? row.pathPrefix(settings) : (row.pathPrefix ?? '');
  const hasResponses = row.operations.includes('createModelResponse');
  const operations: Partial<Record<OperationName, Operation>> = {};
  for (const name of row.operations) operations[name] = build[name](row, prefix);
  const adapter: CompatibleAdapter = {
    ...declared(declaration),
    baseUrl: (settings) => baseUrlOf(row, settings),
    headers: (settings, credentials) => {
      const key = credentials.api_key;
      const headers = row.headers?.(settings) ?? [];
      if (key === undefined) return headers;
      return [...(row.credential?.(key.reveal()) ?? ['authorization', `Bearer ${key.reveal()}`]), ...headers];
    },
    forwards: row.forwards ?? [],
    proxyPath: row.proxyPath ?? ((path, settings) => prefix(settings) + path),
    ...(row.modelSources ? { modelSources: row.modelSources } : {}),
    operations,
    ...(row.realtime ? { realtime: realtime(prefix) } : {}),
    chatExtras: hasResponses ? sealedReasoning(byResponsesOf(row), row.chatExtras) : (row.chatExtras ?? []),
    ...(row.customTools ? { customTools: true as const } : {}),
    error: providerError(row.id),
  };
  if (row.stored) Object.assign(operations, storedOperations(adapter, row.stored));
  return adapter;
}

type Prefix = (settings: ProviderSettings) => string;

const build: Record<CompatibleOperation, (row: CompatibleProvider, prefix: Prefix) => Operation> = {
  chatComplete(row, prefix) {
    const chat = chatCompletions(row.id, row.chat ?? {}, (call) => `${prefix(call.settings)}/chat/completions`);
    if (!row.operations.includes('createModelResponse')) return chat;
    return chatOrResponses(row.id, byResponsesOf(row), chat, build.createModelResponse(row, prefix));
  },
  complete(row, prefix) {
    if (row.completesOverChat) return completionsOverChat(build.chatComplete(row, prefix), row.id);
    const own = completions(row.id, row.chat ?? {}, (call) => `${prefix(call.settings)}/completions`);
    const { completesByChat } = row;
    return completesByChat ? completionsOrChat(own, build.chatComplete(row, prefix), row.id, completesByChat) : own;
  },
  embed: (row, prefix) => embeddings(row.id, (call) => `${prefix(call.settings)}${row.embed?.path ?? '/embeddings'}`, row.embed),
  createModelResponse: (row, prefix) =>
    responses(row.id, (call) => row.proxyPath?.('/responses', call.settings) ?? `${prefix(call.settings)}/responses`),
  ...mediaOperations,
};

function byResponsesOf(row: CompatibleProvider): (call: OperationCall) => boolean {
  return row.byResponses ?? ((call) => call.settings.use_responses_api === true);
}

function baseUrlOf(row: CompatibleProvider, settings: ProviderSettings): string {
  const custom = settings.custom_host;
  if (typeof custom === 'string' && custom !== '') return withoutTrailingSlashes(custom);
  if (typeof row.baseUrl === 'function') return row.baseUrl(settings);
  if (row.baseUrl !== null) return row.baseUrl;
  throw new GatewayError('invalid_custom_host', {
    message: `Provider ${row.id} has no default address. Set custom_host, for example x-svc-custom-host: https://llm.example.com`,
    param: 'custom_host',
  });
}
