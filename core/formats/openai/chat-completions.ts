import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { withoutAllowedTools } from './allowed-tools.ts';
import { withMappedFinishReasons } from './chat-finish-reason.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { withoutRefused, withRenames, withSystemRole, withUsageInStream } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import { chatStreamReader } from './chat-stream-reader.ts';
import { chatUsage } from './chat-usage.ts';
import { unlessTextOrTools, withoutRefusedFields } from './message-fields.ts';
import { refuseError } from './provider-error.ts';

/** Chat completions of an OpenAI-compatible provider (https://platform.openai.com/docs/api-reference/chat). */
export function chatCompletions(id: string, quirks: ChatQuirks, path: (call: OperationCall) => string): Operation {
  const refused = quirks.messageFields ? unlessTextOrTools(quirks.messageFields) : null;
  return {
    path,
    toProvider: (params, call) => {
      let body = withUsageInStream(params, quirks);
      body = withRenames(body, quirks, call);
      body = withoutRefused(body, quirks, call);
      if (refused) body = withoutRefusedFields(body, refused, call);
      if (quirks.lacksAllowedTools) body = withoutAllowedTools(body, call);
      body = quirks.developerAsSystem ? withSystemRole(body, call) : body;
      return quirks.request ? quirks.request(body, call) : body;
    },
    fromProvider: (reply, call) => {
      refuseError(id, reply, 'choices');
      const body = quirks.reply ? quirks.reply(call)(reply) : reply;
      return quirks.ownFinishReasons && call.strict ? withMappedFinishReasons(body) : body;
    },
    translateStream: (call) => chatStream(quirks, call),
    usage: usageOfReply,
    streamReader: () => chatStreamReader(id),
  };
}

function usageOfReply(reply: JsonObject) {
  return isObject(reply.usage) ? chatUsage(reply.usage, reply.service_tier) : null;
}
