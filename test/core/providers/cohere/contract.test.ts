import { cohere } from '../../../../core/providers/cohere/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(cohere, {
  finishReasons: {
    COMPLETE: 'stop',
    STOP_SEQUENCE: 'stop',
    MAX_TOKENS: 'length',
    TOOL_CALL: 'tool_calls',
    ERROR: 'length',
    TIMEOUT: 'length',
  },
});
