import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { customCallStream, withCustomCalls } from './reply.ts';
import { customNames, withFunctions } from './request.ts';
import { customItemStream, withCustomItems } from './responses-reply.ts';
import { customNamesInResponses, withFunctionsInResponses } from './responses-request.ts';

/**
 * Chat completions that accept OpenAI's custom tools, whose input is free text, for a provider that has functions only. Such a tool becomes
 * a function with the property `input`, and calls of it become calls of the custom tool. `hasThem` selects calls of models that have
 * custom tools themselves. All other requests and replies are those of the given operation.
 */
export function withCustomTools(chat: Operation, hasThem: (call: OperationCall) => boolean = () => false): Operation {
  return {
    ...chat,
    toProvider(params, call) {
      const body = hasThem(call) ? params : withFunctions(params, call);
      return chat.toProvider?.(body, call) ?? body;
    },
    fromProvider(reply, call) {
      const completion = chat.fromProvider?.(reply, call) ?? reply;
      const names = hasThem(call) ? null : customNames(call.params);
      return names === null ? completion : withCustomCalls(completion, names);
    },
    translateStream(call) {
      const inner = chat.translateStream?.(call) ?? null;
      const names = hasThem(call) ? null : customNames(call.params);
      return names === null ? inner : customCallStream(inner, names);
    },
  };
}

/** The same for the Responses API of a provider that has functions only. */
export function withCustomToolsInResponses(
  responses: Operation,
  hasThem: (call: OperationCall) => boolean = () => false,
): Operation {
  return {
    ...responses,
    toProvider(params, call) {
      const body = hasThem(call) ? params : withFunctionsInResponses(params, call);
      return responses.toProvider?.(body, call) ?? body;
    },
    fromProvider(reply, call) {
      const response = responses.fromProvider?.(reply, call) ?? reply;
      const names = hasThem(call) ? null : customNamesInResponses(call.params);
      return names === null ? response : withCustomItems(response, names, call.params);
    },
    translateStream(call) {
      const inner = responses.translateStream?.(call) ?? null;
      const names = hasThem(call) ? null : customNamesInResponses(call.params);
      return names === null ? inner : customItemStream(inner, names, call.params);
    },
  };
}
