import { crc32, deflateRawSync } from 'node:zlib';

/** A file in a zip; `claimed` is the size that the directory says, if it lies. */
export type ZipFileContent = { readonly name: string; readonly content: string | Buffer; readonly claimed?: number };

const LOCAL_BYTES = 30;
const DIRECTORY_BYTES = 46;
const END_BYTES = 22;
const DEFLATED = 8;

/**
 * Writes a zip, here and not with a library, so that it may be wrong.
 * @param flags of each file; 1 is encrypted
 * @param before what stands before the zip; its places count from there
 */
export const zipOf = (files: readonly ZipFileContent[], flags = 0, before = Buffer.alloc(0)): Buffer => {
  const locals: Buffer[] = [before];
  const directory: Buffer[] = [];
  let at = before.length;
  for (const { name, content, claimed } of files) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const common = Buffer.alloc(LOCAL_BYTES - 4);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claimed ?? bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed]);
    const entry = Buffer.alloc(DIRECTORY_BYTES);
    entry.write('PK\u0001\u0002', 'latin1');
    entry.writeUInt16LE(20, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(at, 42);
    locals.push(local);
    directory.push(Buffer.concat([entry, Buffer.from(name)]));
    at += local.length;
  }
  const end = Buffer.alloc(END_BYTES);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...directory, end]);
};
