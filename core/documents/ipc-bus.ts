import { changesSubject } from '../contract/protocol/notices/change-notice.ts';
import { isObject } from '../contract/values/json/json.ts';
import type { ChangeBus } from './bus.ts';

/** The part of `process` that receives cluster messages. */
export interface MessageSource {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/** The bus of one machine: the supervisor passes on `{ type: 'svc.changes', notice }` to every gateway process. */
export function createIpcBus(source: MessageSource): ChangeBus {
  let listener: ((message: unknown) => void) | null = null;
  return {
    start(onNotice) {
      listener = (message) => {
        if (isObject(message) && message.type === changesSubject) onNotice(message.notice);
      };
      // The channel exists since the start of the process, so no notice can have been missed.
      source.on('message', listener);
    },
    async close() {
      if (listener) source.off('message', listener);
      listener = null;
    },
  };
}
