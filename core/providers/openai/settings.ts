import * as v from 'valibot';

/** Settings of `openai` beside `custom_host`, under their config names. */
export const openAiSettings = {
  openai_organization: v.optional(v.string()),
  openai_project: v.optional(v.string()),
  openai_beta: v.optional(v.string()),
};
