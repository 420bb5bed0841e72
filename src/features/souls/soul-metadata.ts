import { fitsMetadata, METADATA_BYTES } from '../npcs/domain/recorded-bytes.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import type { SoulDocument } from './domain/document.js';
import { memoryPauses } from './memory-pauses.js';

/** Checks that every memory's metadata is within the limit of a mind's memories. @throws Rejection SOUL_TOO_LARGE */
export function* requireMetadataFits({ memories }: Pick<SoulDocument, 'memories'>): Sliced<void> {
  const isPauseDue = memoryPauses();
  for (const { id: memoryId, metadata } of memories) {
    if (isPauseDue(jsonBytes(metadata))) yield 1;
    if (!fitsMetadata(metadata))
      throw new Rejection('SOUL_TOO_LARGE', {
        message: `The metadata of a memory of this soul has more than ${METADATA_BYTES} bytes of JSON, as it is or in compatibility form (NFKC).`,
        details: { memoryId, metadataLimitBytes: METADATA_BYTES },
      });
  }
}
