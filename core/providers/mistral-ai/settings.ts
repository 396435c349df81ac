import * as v from 'valibot';
import { keptSettings } from '../../formats/stored/stored-settings.ts';

/** Settings of `mistral-ai` beside `custom_host`, under their config names; headers carry them as text. */
export const mistralSettings = {
  provider_model: keptSettings.provider_model,
  mistral_fim_completion: v.optional(v.union([v.boolean(), v.picklist(['true', 'false'])], 'true or false')),
};
