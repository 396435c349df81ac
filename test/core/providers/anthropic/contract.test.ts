import { anthropic } from '../../../../core/providers/anthropic/anthropic.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(anthropic, {
  credential: { header: 'x-api-key', value: (key) => key },
  finishReasons: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    pause_turn: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool_calls',
    refusal: 'refusal',
  },
});
