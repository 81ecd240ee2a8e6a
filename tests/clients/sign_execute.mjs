// Signs a sponsored call as GET /api/relay says: `node sign_execute.mjs viem|ethers GATEWAY KEY ACCOUNT TO DATA NONCE DEADLINE`.
import { Wallet } from "ethers";
import { keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [library, gateway, key, account, to, data, nonce, deadline] = process.argv.slice(2);
const { signing } = await (await fetch(`${gateway}/api/relay`)).json();
const domain = { ...signing.domain, verifyingContract: account };
const types = { [signing.primaryType]: signing.fields };
const message = { to, value: 0n, dataHash: keccak256(data), nonce: BigInt(nonce), deadline: BigInt(deadline) };

const sign = {
  viem: () => privateKeyToAccount(key).signTypedData({ domain, types, primaryType: signing.primaryType, message }),
  ethers: () => new Wallet(key).signTypedData(domain, types, message),
};
console.log(await sign[library]());
