import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { withMappedFinishReasons } from './chat-finish-reason.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { withUsageInStream } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import { chatStreamReader } from './chat-stream-reader.ts';
import { chatUsage } from './chat-usage.ts';
import { refuseError } from './provider-error.ts';

/** Text completions of an OpenAI-compatible provider (https://platform.openai.com/docs/api-reference/completions). */
export function completions(id: string, quirks: ChatQuirks, path: (call: OperationCall) => string): Operation {
  return {
    path,
    toProvider: (params) => withUsageInStream(params, quirks),
    fromProvider: (reply, call) => {
      refuseError(id, reply, 'choices');
      return quirks.ownFinishReasons && call.strict ? withMappedFinishReasons(reply) : reply;
    },
    translateStream: (call) => chatStream(quirks, call),
    usage: (reply) => (isObject(reply.usage) ? chatUsage(reply.usage) : null),
    streamReader: () => chatStreamReader(id),
  };
}
