import type { Settings } from '../../config/settings.ts';
import { mergeStream } from '../../plugins/cache/forms/convert.ts';
import type { InternalFetch } from '../contract/protocol/internal-api.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { realTimers } from '../contract/values/time/timers.ts';
import { ContentQueue } from '../journal/content-queue.ts';
import { createMasks } from '../journal/mask-content.ts';
import { prepareContent } from '../journal/prepare-content.ts';
import { everySecretName } from '../providers/declarations.ts';

interface Parts {
  readonly settings: Pick<Settings, 'logBodies' | 'logBodyBytesMax' | 'logQueueBytesMax' | 'logMaskedFields'>;
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  readonly log: Log;
}

/** Returns the queue of headers and bodies for logs; null if LOG_BODIES is `off`. */
export function createContentQueue({ settings, fetch, clock, log }: Parts): ContentQueue | null {
  if (settings.logBodies === 'off') return null;
  const { logBodyBytesMax: bodyBytesMax, logQueueBytesMax: queueBytesMax } = settings;
  const masks = createMasks(settings.logMaskedFields, everySecretName);
  return new ContentQueue({
    ...{ fetch, clock, timers: realTimers, random: Math.random, log, bodyBytesMax, queueBytesMax },
    prepare: (content) => prepareContent(content, masks, mergeStream, bodyBytesMax),
  });
}
