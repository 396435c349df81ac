import { defineCheck, definePlugin } from 'svc-gateway/plugin';

/**
 * Adds the guardrail check `allowed-topics.keywords`, without hooks. Configs use it like a built-in check:
 * `"input_guardrails": [{ "allowed-topics.keywords": { "topics": ["billing"] }, "deny": true }]`.
 * Load it with `PLUGINS=config/examples/plugins/allowed-topics.mjs`.
 */
const keywords = defineCheck({
  id: 'keywords',
  about: 'Passes texts that contain at least one of the topics.',
  sides: ['input', 'output'],
  parameters: {
    type: 'object',
    properties: { topics: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 100 } },
    required: ['topics'],
    additionalProperties: false,
  },
  example: { topics: ['billing'] },
  check(text, { parameters }) {
    const lower = text.toLowerCase();
    const found = parameters.topics.filter((topic) => lower.includes(topic.toLowerCase()));
    return { verdict: found.length > 0, data: { found } };
  },
});

export const plugin = definePlugin({ apiVersion: 1, name: 'allowed-topics', checks: [keywords] });
