import { groq } from '../../../../core/providers/groq/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(groq, {
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter' },
});
