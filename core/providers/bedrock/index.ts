import { awsKeyHeaders } from '../../cloud-auth/aws-call.ts';
import { awsOrigin, regionOf } from '../../cloud-auth/aws-region.ts';
import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { declared } from '../../provider-settings/declaration.ts';
import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';
import { signCall } from './auth.ts';
import { withBetasInBody } from './claude/beta-features.ts';
import { messagesCountTokens } from './claude/count-tokens.ts';
import { chatComplete } from './converse/chat-completions.ts';
import { converseExtras } from './converse/chat-extras.ts';
import { complete } from './converse/completions.ts';
import { messages } from './converse/messages.ts';
import { embed } from './embeddings/embeddings.ts';
import { errorOf } from './errors.ts';
import { imageEdit, imageGenerate, imageVariation } from './images/images.ts';
import { modelList } from './model-list.ts';
import { rerank } from './rerank.ts';
import { declaration } from './settings.ts';
import { cancelBatch, createBatch, getBatchOutput, listBatches, retrieveBatch } from './stored/batches.ts';
import { deleteFile, listFiles, retrieveFile, retrieveFileContent, uploadFile } from './stored/files.ts';
import { cancelFinetune, createFinetune, listFinetunes, retrieveFinetune } from './stored/fine-tuning.ts';

/** Amazon Bedrock. See README.md. */
export const bedrock: ProviderAdapter & { readonly chatExtras: readonly ChatExtra[] } = {
  ...declared(declaration),
  baseUrl: (given) => awsOrigin('bedrock-runtime', regionOf(given)),
  headers: awsKeyHeaders,
  sign: signCall,
  adjustProxyCall: withBetasInBody,
  // Signatures cover bodies, and beta features are part of them.
  buffersProxyBodies: () => true,
  models: modelList,
  operations: {
    ...{ chatComplete, complete, embed, messages, messagesCountTokens, imageGenerate, imageEdit, imageVariation, rerank },
    ...{ uploadFile, listFiles, retrieveFile, retrieveFileContent, deleteFile },
    ...{ createBatch, listBatches, retrieveBatch, getBatchOutput, cancelBatch },
    ...{ createFinetune, listFinetunes, retrieveFinetune, cancelFinetune },
  },
  chatExtras: converseExtras,
  error: errorOf,
};

export const adapters = [bedrock];
