/** The IPFS node of this run, and its gateway; null if there is none, which is logged once. */
export const ipfsOfRun = (): { readonly api: string; readonly gateway: string } | null => {
  const { IPFS_API_URL: api = '', IPFS_GATEWAY_URL: gateway = '' } = process.env;
  if (api !== '' && gateway !== '') return { api, gateway };
  console.warn(
    'Skipped: what needs an IPFS node. There is no IPFS_API_URL with IPFS_GATEWAY_URL; "npm run servers -- start ipfs" says why, or starts one.',
  );
  return null;
};
