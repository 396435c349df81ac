import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';

/** Reports `detail` of images, for providers that choose the resolution themselves. */
export function reportImageDetail(messages: unknown, call: OperationCall): void {
  if (!Array.isArray(messages)) return;
  for (const message of messages) {
    if (!isObject(message) || !Array.isArray(message.content)) continue;
    for (const part of message.content) {
      const image = isObject(part) ? part.image_url : null;
      if (isObject(image) && image.detail && image.detail !== 'auto') noteOnce(call.dropped, 'messages.image_url.detail');
    }
  }
}
