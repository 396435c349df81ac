import { perplexityAi } from '../../../../core/providers/perplexity-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(perplexityAi, {
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter' },
});
