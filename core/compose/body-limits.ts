import type { Settings } from '../../config/settings.ts';
import type { BodyLimits } from '../pipeline/request/read-body.ts';

/** Returns the limits of request bodies. */
export function bodyLimitsOf(settings: Settings): BodyLimits {
  return {
    jsonBytesMax: settings.jsonBodyBytesMax,
    jsonValuesMax: settings.jsonValuesMax,
    formBytesMax: settings.formBytesMax,
    streamedBytesMax: settings.streamedBodyBytesMax,
  };
}
