import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { converting } from '../converting.ts';
import { withToolNamespaces } from '../tool-namespaces/tool-namespaces.ts';
import { customCallStream, withCustomCalls } from './reply.ts';
import { customNames, withFunctions } from './request.ts';
import { customItemStream, withCustomItems } from './responses-reply.ts';
import { customNamesInResponses, withFunctionsInResponses } from './responses-request.ts';

/**
 * Chat completions that accept OpenAI's custom tools, whose input is free text, for a provider that has functions only. Such a tool becomes
 * a function with the property `input`, and calls of it become calls of the custom tool. `hasThem` selects calls of models that have
 * custom tools themselves. All other requests and replies are those of the given operation.
 */
export function withCustomTools(chat: Operation, hasThem?: (call: OperationCall) => boolean): Operation {
  return converting(
    chat,
    { request: withFunctions, names: customNames, reply: withCustomCalls, stream: customCallStream },
    hasThem,
  );
}

/** The same for the Responses API of a provider that has functions only. It accepts namespaces of tools too. */
export function withCustomToolsInResponses(responses: Operation, hasThem?: (call: OperationCall) => boolean): Operation {
  const [request, names] = [withFunctionsInResponses, customNamesInResponses];
  const functions = converting(responses, { request, names, reply: withCustomItems, stream: customItemStream }, hasThem);
  return withToolNamespaces(functions, hasThem);
}
