import { perplexityAi } from '../../../../core/providers/perplexity-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(perplexityAi, {
  lacks: { 'chatComplete calls a tool': 'its chat models call none of the caller’s tools' },
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter' },
});
