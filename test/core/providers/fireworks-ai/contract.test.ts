import { fireworksAi } from '../../../../core/providers/fireworks-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(fireworksAi, {
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter' },
});
