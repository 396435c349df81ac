import type { RequestContext } from '../contract/plugin/context.ts';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import type { RenderedPrompt } from '../contract/plugin/requests/prompt.ts';
import type { PromptVersionDocument } from '../contract/protocol/prompts.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { isPromise } from '../contract/values/maybe.ts';
import { collectPartials } from './collect-partials.ts';
import { type FoundPrompt, findPrompt, type Home } from './find-prompt.ts';
import { renderMessages, renderTemplate } from './render-template.ts';

export interface PromptServices {
  readonly documents: DocumentReader;
  readonly random: () => number;
  /** Maximum size of a rendered prompt. */
  readonly bytesMax: number;
}

/** The inputs of a rendering: the body of the request without its variables, and the variables. */
export interface PromptInput {
  readonly params: JsonObject;
  readonly variables: JsonObject;
  /** True: a variable without a value is an error. */
  readonly isStrict: boolean;
}

/** Reads the input of a request to a prompt. Throws GatewayError 400 if `variables` is no object. */
export function promptInput(ctx: RequestContext): PromptInput {
  // Some clients repeat the reference of the path in the body.
  const { variables: given, prompt_id: _, promptID: __, ...params } = ctx.params ?? {};
  const variables = given ?? {};
  if (!isObject(variables))
    throw new GatewayError('bad_request', { message: 'variables: expected an object', param: 'variables' });
  const strict = ctx.gatewayHeaders.get('strict-variables') ?? 'false';
  if (strict !== 'true' && strict !== 'false') {
    const param = `${ctx.headerPrefix}strict-variables`;
    throw new GatewayError('bad_request', { message: `${param}: Expected true or false`, param });
  }
  return { params, variables, isStrict: strict === 'true' };
}

/** Finds a prompt for the caller. Throws GatewayError 404 if there is none. */
export async function openPrompt(services: PromptServices, caller: Home, reference: string): Promise<FoundPrompt> {
  const found = await findPrompt(services.documents, caller, reference, services.random);
  if (found === null)
    throw new GatewayError('not_found', {
      message: 'Invalid prompt id: the workspace has no such prompt, version or label. GET /v1/prompts lists its prompts',
      param: 'id',
    });
  return found;
}

/**
 * Renders a prompt to the body of a model request: the saved parameters without `stream`, those of the request, which win, and the
 * messages or the text. Throws GatewayError 400 for partials, variables and raw templates that cannot be used, and 413.
 */
export async function renderPrompt(
  services: PromptServices,
  caller: Home,
  found: FoundPrompt,
  input: PromptInput,
): Promise<RenderedPrompt> {
  const { document, version, template } = found;
  const { variables, isStrict } = input;
  const collected = collectPartials(services.documents, template, { prompt: document, caller }, variables);
  const partials = isPromise(collected) ? await collected : collected;
  const options = { variables, partials, bytesMax: services.bytesMax, isStrict };
  const isChat = template.kind === 'messages';
  const content = isChat
    ? { messages: renderMessages(template, options) ?? messagesOf(renderTemplate(template, options)) }
    : { prompt: renderTemplate(template, options) };
  return {
    id: document.id,
    slug: document.slug,
    versionId: version.id,
    version: found.number,
    label: found.label,
    operation: isChat ? 'chatComplete' : 'complete',
    provider: version.virtualKey === null ? null : `@${version.virtualKey.replace(/^@/, '')}`,
    params: { ...savedParams(version), ...input.params, ...content },
  };
}

function savedParams({ model, parameters, functions, tools, toolChoice }: PromptVersionDocument): JsonObject {
  const { stream: _, ...saved } = parameters;
  return {
    ...(model === null ? {} : { model }),
    ...saved,
    ...(functions?.length ? { functions } : {}),
    ...(tools?.length ? { tools } : {}),
    ...(toolChoice === null || toolChoice === undefined ? {} : { tool_choice: toolChoice }),
  };
}

function messagesOf(text: string): unknown[] {
  let messages: unknown;
  try {
    messages = JSON.parse(text);
  } catch (thrown) {
    const [place] = /line \d+ column \d+/.exec(String(thrown)) ?? [];
    const where = place ? ` at ${place}` : '';
    throw new GatewayError('bad_request', { message: `The rendered prompt is not valid JSON${where}` });
  }
  if (Array.isArray(messages)) return messages;
  throw new GatewayError('bad_request', { message: 'The rendered prompt is not a list of messages' });
}
