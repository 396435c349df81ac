import { togetherAi } from '../../../../core/providers/together-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(togetherAi, {
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter', eos: 'stop' },
});
