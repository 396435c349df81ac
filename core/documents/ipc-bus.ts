import { changesSubject } from '../contract/protocol/notices/change-notice.ts';
import { listenToProcess, type MessageSource } from '../contract/protocol/notices/process-notices.ts';
import type { ChangeBus } from './bus.ts';

/** The bus of one machine: the supervisor passes on change notices to every gateway process. */
export function createIpcBus(source: MessageSource): ChangeBus {
  let stop = (): void => {};
  return {
    start(onNotice) {
      // The channel exists since the start of the process, so no notice can have been missed.
      stop = listenToProcess(source, changesSubject, onNotice);
    },
    async close() {
      stop();
    },
  };
}
