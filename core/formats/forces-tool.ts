import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** True if a chat call requires the model to call a tool. Reads the choices of OpenAI, of Anthropic and of the Converse API. */
export function forcesTool(params: JsonObject): boolean {
  const tools = params.tools ?? params.functions;
  if (!Array.isArray(tools) || tools.length === 0) return false;
  const choice = params.tool_choice ?? params.function_call;
  if (choice === 'required') return true;
  if (!isObject(choice)) return false;
  if (isObject(choice.allowed_tools)) return choice.allowed_tools.mode === 'required';
  return choice.type !== 'auto' && choice.type !== 'none' && choice.auto === undefined;
}
