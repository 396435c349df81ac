import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** Returns the JSON of each event of a stream. */
export function eventsOf(text: string): JsonObject[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('data:') || line.trim() === 'data: [DONE]') return [];
    const event: unknown = JSON.parse(line.slice(5));
    return isObject(event) ? [event] : [];
  });
}

/** Returns the text that the model wrote in a plain reply or stream of a chat completion, a message or a response. */
export function contentOf(text: string): string {
  if (!text.startsWith('{')) return eventsOf(text).map(deltaOf).join('');
  const { choices, content, output } = JSON.parse(text) as JsonObject;
  if (Array.isArray(choices)) return choices.map(({ message, text: own }) => message?.content ?? own ?? '').join('');
  if (Array.isArray(content)) return content.map((block) => block.text ?? '').join('');
  const parts = Array.isArray(output) ? output.flatMap((item) => item.content ?? []) : [];
  return parts.map((part) => part.text ?? '').join('');
}

function deltaOf({ type, delta, choices }: JsonObject): string {
  if (type === 'response.output_text.delta') return String(delta);
  if (type === 'content_block_delta' && isObject(delta)) return typeof delta.text === 'string' ? delta.text : '';
  if (!Array.isArray(choices)) return '';
  return choices.map((choice) => choice.delta?.content ?? choice.text ?? '').join('');
}
